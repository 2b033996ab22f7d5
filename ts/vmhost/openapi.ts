/** The OpenAPI 3.1 document of the service, read off the declarations. */
import { type Endpoint, type Endpoints, inputFields } from '@backlot/contract/endpoint'
import { type FailureCode, failures } from '@backlot/contract/failure'
import { screenPath } from '@backlot/contract/vmhost/console'
import { eventsPath, HostEvent } from '@backlot/contract/vmhost/operation'

/** The document, with every operation under `prefix`. */
export const openApi = (declared: Endpoints, prefix: string, version: string): Record<string, unknown> => {
  const paths: Record<string, Record<string, unknown>> = {}
  const add = (method: string, path: string, operation: unknown) => {
    paths[prefix + path] = { ...paths[prefix + path], [method.toLowerCase()]: operation }
  }
  for (const [name, endpoint] of Object.entries(declared)) {
    const { method, path, alias } = endpoint
    add(method, path, operation(name, endpoint))
    if (alias !== undefined) add(alias.method, alias.path, operation(`${name}Alias`, endpoint))
  }
  add('GET', eventsPath, events)
  add('GET', screenPath, screen)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Backlot VM host',
      version,
      description:
        'Virtual machines on this host. Every operation answers under `/svc` and, for existing clients, under `/lume`.',
    },
    paths,
    security: [{}, { token: [] }],
    components: {
      schemas: { Refusal: refusal },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Asked for where the service was given a token.' },
      },
    },
  }
}

const refusal = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', enum: Object.keys(failures), description: 'Stable name of the failure.' },
    message: { type: 'string', description: 'What is wrong and what to do, for people.' },
    detail: { type: 'string', description: 'Which field of the body is wrong, and how.' },
  },
}

const json = (schema: unknown): Record<string, unknown> => ({ 'application/json': { schema } })

const refused = (description: string) => ({ description, content: json({ $ref: '#/components/schemas/Refusal' }) })

/** What the guard refuses with before an operation is looked at. */
const guarded: readonly FailureCode[] = ['unauthorized', 'foreign_host', 'foreign_origin', 'from_guest']

/** Answers to failures by status: 400 for all where existing clients know no other. */
const refusals = (codes: readonly FailureCode[]): Record<number, unknown> => {
  const byStatus = Map.groupBy([...new Set([...codes, ...guarded])], (code) => failures[code].status ?? 400)
  return Object.fromEntries(
    [...byStatus].map(([status, each]) => [status, refused(each.map((code) => failures[code].when).join(' '))]),
  )
}

/** The HTTP server itself says so, before any of it is read. */
const tooLong = { 431: { description: 'Address and headers are longer than 16 KiB together.' } }

const parameters = (endpoint: Endpoint) =>
  inputFields(endpoint)
    .filter(({ from }) => from !== 'body')
    .map(({ name, from, schema, required }) => ({ name, in: from === 'params' ? 'path' : 'query', required, schema }))

const operation = (operationId: string, endpoint: Endpoint): Record<string, unknown> => ({
  operationId,
  summary: endpoint.summary,
  description: endpoint.description,
  parameters: parameters(endpoint),
  ...(endpoint.body && { requestBody: { required: !endpoint.leniently, content: json(endpoint.body) } }),
  responses: {
    [endpoint.success.status]: { description: endpoint.success.description, content: json(endpoint.success.result) },
    ...(endpoint.ours && refusals(endpoint.refusals ?? [])),
    400: refused(endpoint.refusal),
    ...tooLong,
  },
})

const events = {
  operationId: 'followEvents',
  summary: 'Follow what happens.',
  description:
    'Server-sent events, each with an id: who comes back with `Last-Event-ID` is told what happened meanwhile, or ' +
    '`reset` where that is not known any more.',
  parameters: [{ name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } }],
  responses: {
    200: {
      description: 'The events; `data` is one of these as JSON, `event` its `type`.',
      content: { 'text/event-stream': { schema: HostEvent } },
    },
    ...refusals([]),
  },
}

const screen = {
  operationId: 'joinScreen',
  summary: "Join a VM's screen.",
  description: 'A WebSocket that carries VNC (RFB, RFC 6143) in binary messages; the password is that of `vncUrl`.',
  parameters: [
    { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'storage', in: 'query', required: false, schema: { type: 'string' } },
  ],
  responses: {
    101: { description: 'The screen is joined.' },
    ...refusals(['vm_not_found', 'no_screen', 'not_a_socket', 'invalid_argument']),
  },
}
