/** What of a guest is streamed: a command with its output, files and folders. */
import { type Static, Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'

/** Path of a command whose output comes while it runs, below the prefix. */
export const execStreamPath = '/vms/{name}/exec/stream'

/** Path of a file in a guest, below the prefix. */
export const guestFilePath = '/vms/{name}/files'

/** Path of a folder in a guest, as a tar archive whose paths begin at it. */
export const guestFolderPath = '/vms/{name}/files/tar'

/** One event of a command, by its `type`. */
export const ExecEvent = Type.Union([
  Type.Object({
    type: Type.Literal('output'),
    stream: choice(['stdout', 'stderr']),
    data_b64: Type.String({ description: 'Bytes, in base64.' }),
  }),
  Type.Object({
    type: Type.Literal('ended'),
    exitCode: Type.Integer({ description: 'Its exit status; 128 and the number of the signal that ended it.' }),
  }),
  Type.Object({
    type: Type.Literal('failed'),
    code: Type.String({ description: 'What went wrong after it was begun, as refusals say it.' }),
    message: Type.String(),
  }),
])
export type ExecEvent = Static<typeof ExecEvent>
