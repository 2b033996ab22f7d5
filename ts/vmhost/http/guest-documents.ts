/** What the OpenAPI document says of the routes of guests that stream. */
import { vmHost } from '@backlot/contract/vmhost'
import {
  ExecEvent,
  execInput,
  execStreamPath,
  guestFilePath,
  guestFolderPath,
} from '@backlot/contract/vmhost/guest-streams'
import { refusals } from '@backlot/serve'

const query = (name: string, description: string, required = false) => ({
  ...{ name, in: 'query', required, description },
  schema: { type: 'string' },
})

const named = [
  { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
  query('path', 'Absolute path in the guest.', true),
  query('storage', 'A location by name, or a folder by its absolute path.'),
]

const refused = refusals([
  ...(['vm_not_found', 'vm_not_running', 'vm_suspended', 'vm_busy', 'agent_unavailable', 'guest_timeout'] as const),
  ...(['missing_argument', 'invalid_argument', 'invalid_body', 'guest_file_failed'] as const),
])

const execStream = {
  operationId: 'streamExec',
  summary: 'Run a command in a guest and follow its output.',
  description:
    'As `exec`, answered when the command has begun: its output in events as it comes, of any length, until the shell that runs ' +
    'it has ended; what it leaves in the background is not waited for. It is ended when its caller goes away, and waits while ' +
    'its output is not read: the guest keeps some megabytes of it in files in `/tmp`.',
  parameters: named.slice(0, 1),
  requestBody: { required: true, content: { 'application/json': { schema: vmHost.execInVm.body } } },
  responses: {
    200: {
      description: 'Server-sent events; `data` is one of these as JSON, `event` its `type`. The last is no `output`.',
      content: { 'text/event-stream': { schema: ExecEvent } },
    },
    ...refused,
  },
}

const bytes = (type: string) => ({ [type]: { schema: { type: 'string', format: 'binary' } } })

const written = {
  200: {
    description: 'It is written.',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['path', 'size'],
          properties: {
            path: { type: 'string' },
            size: { type: 'integer', description: 'Bytes that were sent.' },
          },
        },
      },
    },
  },
  ...refused,
}

const options = [
  query('mode', 'Permission bits of a new file in octal, `644` when absent.'),
  query('parents', '`true`: folders above it are made.'),
]

const write = (operationId: string, summary: string, description: string, type: string, parameters: object[]) => ({
  ...{ operationId, summary, description, parameters },
  requestBody: { required: true, content: bytes(type) },
  responses: written,
})

const aboutFile = 'Whole or not at all; a file that is there gives owner and permissions.'
const aboutFolder = 'Its files are put beside those that are there; the folder is made where there is none.'

const inputSent = {
  operationId: 'sendExecInput',
  summary: execInput.summary,
  description: execInput.description,
  parameters: [
    ...named.slice(0, 1),
    { name: 'inputId', in: 'path', required: true, schema: execInput.params.properties.inputId },
    ...named.slice(2),
  ],
  requestBody: { required: true, content: bytes('application/octet-stream') },
  responses: {
    200: {
      description: execInput.success.description,
      content: { 'application/json': { schema: execInput.success.result } },
    },
    ...refusals(['vm_not_found', 'input_not_awaited', 'invalid_argument']),
  },
}

/** They, by path below the prefix and method. */
export const guestDocuments = [
  { method: 'post', path: execStreamPath, operation: execStream },
  { method: 'post', path: execInput.path, operation: inputSent },
  {
    method: 'get',
    path: guestFilePath,
    operation: {
      ...{ operationId: 'readGuestFile', summary: 'Read a file of a guest.', parameters: named },
      description: 'Through its agent, in guests with Linux. An answer that ends early is not whole.',
      responses: { 200: { description: 'Its bytes.', content: bytes('application/octet-stream') }, ...refused },
    },
  },
  {
    method: 'get',
    path: guestFolderPath,
    operation: {
      ...{ operationId: 'readGuestFolder', summary: 'Read a folder of a guest.', parameters: named },
      description: 'As a tar archive whose paths begin at it. An answer that ends early is not whole.',
      responses: { 200: { description: 'The archive.', content: bytes('application/x-tar') }, ...refused },
    },
  },
  ...(['put', 'post'] as const).flatMap((method) => [
    {
      method,
      path: guestFilePath,
      operation: write(
        ...([`${method}GuestFile`, 'Write a file of a guest.', aboutFile, 'application/octet-stream'] as const),
        [...named, ...options],
      ),
    },
    {
      method,
      path: guestFolderPath,
      operation: write(
        ...([`${method}GuestFolder`, 'Write a folder of a guest.', aboutFolder, 'application/x-tar'] as const),
        named,
      ),
    },
  ]),
]
