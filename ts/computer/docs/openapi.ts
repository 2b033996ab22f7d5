/** The OpenAPI 3.1 document of a computer server, read off the commands. */
import { computer } from '@backlot/contract/computer'
import type { Command } from '@backlot/contract/computer/command'
import { version } from '@backlot/contract/version'
import { openApi } from '@backlot/serve'

const json = (schema: object) => ({ 'application/json': { schema } })
const text = (description: string) => ({ description, content: { 'text/plain': { schema: { type: 'string' } } } })
const answer = (description: string, schema: object = { type: 'object' }) => ({ description, content: json(schema) })

const inQuery = (name: string, description: string, required = true) => ({
  name,
  in: 'query',
  required,
  schema: { type: 'string', description },
})

const pid = {
  name: 'pid',
  in: 'path',
  required: true,
  schema: { type: 'integer', description: 'Process of a terminal.' },
}

/** A message of each command, under which the fields of its success stand too. */
const messages = () =>
  Object.entries<Command>(computer).map(([name, { summary, params, result }]) => ({
    title: name,
    description: summary,
    type: 'object',
    required: ['command'],
    properties: { command: { const: name }, params },
    'x-result': result,
  }))

/** One operation outside the commands. */
const operation = (
  method: string,
  path: string,
  operationId: string,
  summary: string,
  more: { parameters?: object[]; requestBody?: object; responses: Readonly<Record<string, object>> },
) => ({ method, path, operation: { operationId, summary, description: summary, parameters: [], ...more } })

const path = inQuery('path', 'Path of a file or folder; `~` is the home folder.')

/** The document. */
export const document = (): Record<string, unknown> =>
  openApi({}, '', {
    title: 'Backlot computer server',
    version,
    description:
      'Acts on the computer that it runs on. `POST /cmd` and `WS /ws` take commands; `/docs` describes and tries them.',
    securitySchemes: {
      header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
    others: [...commandOperations(), ...fileOperations(), ...streamOperations()],
  })

const commandOperations = () => [
  operation('get', '/status', 'status', 'Tell what works; needs no key.', { responses: { 200: answer('The state.') } }),
  operation('get', '/commands', 'commands', 'List the commands.', { responses: { 200: answer('The commands.') } }),
  operation('post', '/cmd', 'command', 'Run a command.', {
    requestBody: { required: true, content: json({ oneOf: messages() }) },
    responses: {
      200: text('One frame, `data: {"success": true, …}`; an event stream for who accepts one.'),
      400: answer('No such command, or no JSON.'),
      401: answer('No key, or another.'),
    },
  }),
]

const fileOperations = () => [
  operation('get', '/files', 'readFile', 'Read a file or a range of it.', {
    parameters: [path],
    responses: { 200: answer('The bytes.'), 206: answer('The range.'), 400: answer('No such file.') },
  }),
  operation('put', '/files', 'writeFile', 'Write a file, whole or not at all.', {
    parameters: [
      path,
      inQuery('append', '`true` adds to its end.', false),
      inQuery('parents', '`true` makes the folders above it.', false),
      inQuery('mode', 'Permission bits in octal, such as 644.', false),
    ],
    requestBody: { required: true, content: { 'application/octet-stream': { schema: { type: 'string' } } } },
    responses: { 200: answer('Path and bytes.'), 400: answer('It cannot be written.') },
  }),
  operation('get', '/files/tar', 'readFolder', 'Read a folder as a tar archive.', {
    parameters: [path],
    responses: { 200: answer('The archive.'), 400: answer('No such folder.') },
  }),
  operation('put', '/files/tar', 'writeFolder', 'Unpack a tar archive into a folder.', {
    parameters: [path],
    requestBody: { required: true, content: { 'application/octet-stream': { schema: { type: 'string' } } } },
    responses: { 200: answer('The folder.'), 400: answer('It cannot be unpacked.') },
  }),
]

const streamOperations = () => [
  operation(
    'get',
    '/tunnel',
    'tunnel',
    "Carry one TCP connection to a port of the computer's loopback over a WebSocket.",
    {
      parameters: [
        inQuery('port', 'The port, 1 to 65535.', false),
        inQuery('socket', 'Of an Android device instead: the name of an abstract socket.', false),
      ],
      responses: { 101: { description: 'The connection.' }, 400: answer('No such port.') },
    },
  ),
  operation('get', '/files/watch', 'watch', 'Follow what changes at a path.', {
    parameters: [path],
    responses: { 200: answer('Server-sent events.'), 400: answer('No such path.') },
  }),
  operation('post', '/pty', 'startTerminal', 'Start a program in a terminal.', {
    requestBody: { required: false, content: json({ type: 'object' }) },
    responses: { 200: answer('The terminal.'), 409: answer('Too many run.') },
  }),
  ...terminalOperations(),
  ...filmOperations(),
  operation(
    'post',
    '/view/link',
    'viewLink',
    'Get an address of the view that lets one browser in, once, with `view_only` to look on.',
    {
      requestBody: { required: false, content: json({ type: 'object' }) },
      responses: { 200: answer('The address.'), 400: answer('A wrong body.') },
    },
  ),
]

const filmOperations = () => {
  const body = { requestBody: { required: false, content: json({ type: 'object' }) } }
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', description: 'Name of a film.' } }
  const removed = inQuery('remove', '`true` removes its file too.', false)
  const taken = { 400: answer('A wrong body.'), 409: answer('The name is taken, or too many are being made.') }
  const notFound = { 404: answer('No such film.') }
  return [
    operation('get', '/film', 'films', 'List the films.', { responses: { 200: answer('The films.') } }),
    operation('post', '/film', 'startFilm', 'Begin to film the display into a file; takes `fps` and `name`.', {
      ...body,
      responses: { 200: answer('The film.'), ...taken },
    }),
    operation('get', '/film/{id}', 'readFilm', 'Read a film, or a range of it, also while it grows.', {
      parameters: [id],
      responses: { 200: answer('An MP4.'), 206: answer('The range.'), ...notFound },
    }),
    operation('delete', '/film/{id}', 'stopFilm', 'Stop a film.', {
      parameters: [id, removed],
      responses: { 200: answer('The film.'), 409: answer('Another server makes it.'), ...notFound },
    }),
  ]
}

const terminalOperations = () => {
  const notFound = { 404: answer('No such terminal.') }
  const body = { requestBody: { required: true, content: json({ type: 'object' }) } }
  return [
    { method: 'get', rest: '', id: 'terminal', summary: 'Tell about a terminal.', more: {} },
    { method: 'delete', rest: '', id: 'endTerminal', summary: 'End a terminal and all that runs in it.', more: {} },
    { method: 'post', rest: '/stdin', id: 'terminalInput', summary: 'Send input to a terminal.', more: body },
    { method: 'post', rest: '/resize', id: 'resizeTerminal', summary: 'Resize a terminal.', more: body },
    { method: 'get', rest: '/stream', id: 'terminalOutput', summary: 'Follow the output of a terminal.', more: {} },
  ].map(({ method, rest, id, summary, more }) =>
    operation(method, `/pty/{pid}${rest}`, id, summary, {
      ...more,
      parameters: [pid],
      responses: { 200: answer('Done.'), ...notFound, ...('requestBody' in more && { 400: answer('A wrong body.') }) },
    }),
  )
}
