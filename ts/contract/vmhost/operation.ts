/** Long work of the VM host, and what it tells while it is under way. */
import { type Static, Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'
import { vmStatuses } from './vm.ts'

const isoTime = (description: string) => Type.String({ description: `${description}, in ISO 8601.` })

/** Something that takes its time: `done`, `failed` and `cancelled` are final. */
export const Operation = Type.Object({
  id: Type.String(),
  kind: choice([
    'create',
    'run',
    'stop',
    'clone',
    'set',
    'suspend',
    'resume',
    'snapshot',
    'restore',
    'fork',
    'pool',
    'delete',
    'pull',
    'push',
    'import',
  ]),
  name: Type.String({ description: 'The VM, or the image that is imported.' }),
  location: Type.String({ description: 'Its location, by name or path; `images` for an image.' }),
  state: choice(['running', 'done', 'failed', 'cancelled']),
  step: Type.Union([Type.String(), Type.Null()], { description: 'What is being done, for people.' }),
  startedAt: isoTime('When it began'),
  endedAt: Type.Union([Type.String(), Type.Null()], { description: 'When it ended, in ISO 8601.' }),
  progress: Type.Union(
    [
      Type.Object({
        doneBytes: Type.Integer(),
        totalBytes: Type.Union([Type.Integer(), Type.Null()], { description: 'Null where nobody knows.' }),
        bytesPerSecond: Type.Integer(),
      }),
      Type.Null(),
    ],
    { description: 'Bytes of the present step.' },
  ),
  cause: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()], {
    description: 'Why it failed.',
  }),
  messages: Type.Array(Type.String(), { description: 'The last lines that the hypervisor or the tool wrote.' }),
})
export type Operation = Static<typeof Operation>
export type OperationKind = Operation['kind']

/** What `GET /events` sends: `id` is the event id that `Last-Event-ID` takes, `type` its name. */
export const HostEvent = Type.Union([
  Type.Object({
    type: Type.Literal('vm'),
    name: Type.String(),
    location: Type.String(),
    status: Type.Union([choice(vmStatuses), Type.Null()], { description: 'Null when the VM is gone.' }),
  }),
  Type.Object({ type: Type.Literal('operation'), operation: Operation }),
  Type.Object({ type: Type.Literal('reset', { description: 'Events were missed: read the lists afresh.' }) }),
])
export type HostEvent = Static<typeof HostEvent>

/** Path of the stream of events, below the prefix: server-sent events, resumable by `Last-Event-ID`. */
export const eventsPath = '/events'
