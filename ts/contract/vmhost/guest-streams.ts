/** What of a guest is streamed: what a command reads and writes, files and folders. */
import { type Static, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'
import { inputId } from './guest.ts'
import { storage } from './location.ts'
import { vmReference } from './vm.ts'

/** Path of a command whose output comes while it runs, below the prefix. */
export const execStreamPath = '/vms/{name}/exec/stream'

/** What a command reads that was begun with an `inputId`: the body, as it comes. */
export const execInput = endpoint({
  method: 'POST',
  path: '/vms/{name}/exec/{inputId}/input',
  ours: true,
  summary: 'Send a command in a guest what it reads.',
  description:
    'The body, of any length, is taken as fast as the command reads it, and its end is the end of the input. It is answered ' +
    'when the command was given all of it, or reads no more. A body that breaks off ends the command. A command that has ' +
    'not begun yet is waited for, 10 s.',
  params: Type.Object({ name: vmReference, inputId }),
  query: Type.Object({ storage: Type.Optional(storage) }),
  success: {
    status: 200,
    description: 'It was given as much as it reads.',
    result: Type.Object({
      size: Type.Integer({ description: 'Bytes that were taken.' }),
      isWhole: Type.Boolean({ description: 'Whether that is all; the command read no more where it is not.' }),
    }),
  },
  refusal: 'Invalid request',
})

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
