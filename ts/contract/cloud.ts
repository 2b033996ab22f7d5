/** The operations of the cloud API on VMs, below its address; callers send `Authorization: Bearer KEY`. */
import { type Static, Type } from '@sinclair/typebox'
import { endpoint } from './endpoint.ts'
import { choice } from './fields/choice.ts'

/** Where a service of a VM is reached. */
export const CloudEndpoint = Type.Object({
  name: Type.String({ description: '`computer-server` or `api`, and `vnc`.' }),
  host: Type.String(),
  port: Type.Integer({ minimum: 1, maximum: 65535 }),
})

/** What a field that may be absent holds. */
const known = <Field extends Parameters<typeof Type.Union>[0][number]>(field: Field) =>
  Type.Optional(Type.Union([field, Type.Null()]))

/** A VM of the cloud; fields beyond these are ignored. */
export const CloudVm = Type.Object({
  name: Type.String({ minLength: 1 }),
  status: Type.String({ description: '`running` and `ready` mean that it can be used.' }),
  os: known(Type.String()),
  host: known(Type.String()),
  password: known(Type.String({ description: 'Of its screen.' })),
  endpoints: known(Type.Array(CloudEndpoint)),
  created_at: known(Type.String()),
})
export type CloudVm = Static<typeof CloudVm>

/** Whose key it is; fields beyond these are passed on. */
export const CloudUser = Type.Object({ id: Type.String(), email: Type.String() })
export type CloudUser = Static<typeof CloudUser>

/** Nothing of these answers is read. */
const Anything = Type.Unknown()
const named = Type.Object({ name: Type.String() })
const vmUnknown = 'No such VM, or it is in another state'

/** The operations. */
export const cloudOperations = {
  createVm: endpoint({
    method: 'POST',
    path: '/v1/vms',
    summary: 'Make a VM and start it.',
    description:
      'Sized by `configuration`, or by `cpu`, `memoryMb` and `diskGb`. It is answered before the VM is ready.',
    body: Type.Object({
      name: Type.String(),
      os: Type.String(),
      region: Type.String(),
      image: Type.Unknown({ description: 'The image as plain data, with its layers.' }),
      configuration: Type.Optional(choice(['small'])),
      cpu: Type.Optional(Type.Number()),
      memoryMb: Type.Optional(Type.Number()),
      diskGb: Type.Optional(Type.Number()),
    }),
    success: { status: 200, description: 'The VM is being made.', result: CloudVm },
    refusal: 'The request is not understood',
  }),
  listVms: endpoint({
    method: 'GET',
    path: '/v1/vms',
    summary: 'List the VMs of the key.',
    description: 'A list, or an object that holds it as `vms`.',
    success: {
      status: 200,
      description: 'The VMs.',
      result: Type.Union([Type.Array(CloudVm), Type.Object({ vms: Type.Array(CloudVm) })]),
    },
    refusal: 'The request is not understood',
  }),
  getVm: endpoint({
    method: 'GET',
    path: '/v1/vms/{name}',
    summary: 'Show a VM.',
    description: 'Its status, and where its services are.',
    params: named,
    success: { status: 200, description: 'The VM.', result: CloudVm },
    refusal: vmUnknown,
  }),
  stopVm: endpoint({
    method: 'POST',
    path: '/v1/vms/{name}/stop',
    summary: 'Stop a VM and keep it.',
    description: 'It is answered before the VM has stopped.',
    params: named,
    success: { status: 200, description: 'The VM stops.', result: Anything },
    refusal: vmUnknown,
  }),
  runVm: endpoint({
    method: 'POST',
    path: '/v1/vms/{name}/run',
    summary: 'Start a VM that was stopped.',
    description: 'It is answered before the VM is ready.',
    params: named,
    success: { status: 200, description: 'The VM starts.', result: Anything },
    refusal: vmUnknown,
  }),
  restartVm: endpoint({
    method: 'POST',
    path: '/v1/vms/{name}/restart',
    summary: 'Stop a VM and start it again.',
    description: 'It is answered before the VM is ready.',
    params: named,
    success: { status: 200, description: 'The VM restarts.', result: Anything },
    refusal: vmUnknown,
  }),
  snapshotVm: endpoint({
    method: 'POST',
    path: '/v1/vms/{vm}/snapshot',
    summary: 'Save a VM.',
    description: 'Under a `name` of its own, and with its memory where `stateful` is true.',
    params: Type.Object({ vm: Type.String() }),
    body: Type.Object({ name: Type.Optional(Type.String()), stateful: Type.Boolean() }),
    success: { status: 200, description: 'It is saved.', result: Anything },
    refusal: vmUnknown,
  }),
  deleteVm: endpoint({
    method: 'DELETE',
    path: '/v1/vms/{name}',
    summary: 'Delete a VM with its disk.',
    description: 'Whether it runs or not.',
    params: named,
    success: { status: 200, description: 'The VM is deleted.', result: Anything },
    refusal: vmUnknown,
  }),
  whoami: endpoint({
    method: 'GET',
    path: '/v1/whoami',
    summary: 'Tell whose key it is.',
    description: 'The user, id and email among it.',
    success: { status: 200, description: 'The user.', result: CloudUser },
    refusal: 'The key is refused',
  }),
} as const
