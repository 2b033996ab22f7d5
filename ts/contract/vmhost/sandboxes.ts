/** What the console asks of the sandboxes of the machine: the SDK and `backlot sandbox` do the same without a service. */
import { type Static, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'

const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

/** A sandbox of this machine. */
export const HostSandbox = Type.Object({
  name: Type.String(),
  status: choice(['running', 'suspended', 'stopped', 'provisioning']),
  runtime: Type.String({ description: 'What it was started with, such as `local` or `container`.' }),
  isolation: orNull('The level that parts it from the machine; null where nobody knows.'),
  osType: orNull('Its system; null where nobody knows.'),
  createdAt: orNull('When it was made, in ISO 8601; null where nobody knows.'),
  expiresAt: orNull('When it ends by itself, in ISO 8601; null: it does not.'),
  ephemeral: Type.Boolean({ description: 'Whether it ends with the program that made it.' }),
  warnings: Type.Array(Type.String(), { description: 'What differs from what was asked, in sentences.' }),
})
export type HostSandbox = Static<typeof HostSandbox>

const named = Type.Object({ name: Type.String({ description: 'Name of the sandbox.' }) })
const done = (description: string) => ({ status: 200, description, result: Type.Object({}) }) as const

/** Operations of a service that runs beside sandboxes; the others are those of the VM host. */
export const sandboxOperations = {
  listSandboxes: endpoint({
    method: 'GET',
    path: '/sandboxes',
    summary: 'List the sandboxes of this machine.',
    description: 'Newest first. What should have ended is ended before.',
    ours: true,
    success: { status: 200, description: 'The sandboxes.', result: Type.Array(HostSandbox) },
    refusal: 'The sandboxes cannot be listed',
  }),
  suspendSandbox: endpoint({
    method: 'POST',
    path: '/sandboxes/{name}/suspend',
    summary: 'Suspend a sandbox.',
    description: 'As its runtime does: its processes stop, or its memory is saved.',
    params: named,
    ours: true,
    success: done('It is suspended.'),
    refusal: 'Its runtime refuses',
    refusals: ['sandbox_not_found', 'sandbox_not_running', 'sandbox_busy'],
  }),
  resumeSandbox: endpoint({
    method: 'POST',
    path: '/sandboxes/{name}/resume',
    summary: 'Continue a sandbox.',
    description: 'One that runs already is left as it is.',
    params: named,
    ours: true,
    success: done('It runs and answers.'),
    refusal: 'Its runtime refuses',
    refusals: ['sandbox_not_found', 'sandbox_busy'],
  }),
  deleteSandbox: endpoint({
    method: 'DELETE',
    path: '/sandboxes/{name}',
    summary: 'Delete a sandbox with its files.',
    description: 'Also one that runs.',
    params: named,
    ours: true,
    success: done('It is gone.'),
    refusal: 'Its runtime refuses',
    refusals: ['sandbox_not_found', 'sandbox_busy'],
  }),
} as const

/** Path of a sandbox's screen, below the prefix: a WebSocket that carries VNC, at which nobody acts. */
export const sandboxScreenPath = '/sandboxes/{name}/screen'

/** What stands behind `#` in the address of the page that shows a sandbox; a VM's holds a slash. */
export const sandboxAnchor = (name: string): string => `sandbox:${name}`
