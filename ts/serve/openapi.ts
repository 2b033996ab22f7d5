/** The OpenAPI 3.1 document of a server, read off its declarations. */
import { type HttpOperation, type HttpOperations, inputFields } from '@backlot/contract/endpoint'
import { type FailureCode, failures } from '@backlot/contract/failure'

/** What a document says beside its declared operations. */
export interface DocumentTexts {
  readonly title: string
  readonly version: string
  readonly description: string
  /** How a key is shown where one is asked for, by the names of the ways (Security Scheme Objects). */
  readonly securitySchemes: Readonly<Record<string, object>>
  /** Operations that are not declared as endpoints, such as streams; paths with their prefix, methods in small letters. */
  readonly others: readonly { readonly method: string; readonly path: string; readonly operation: object }[]
}

/** The document, with every declared operation under `prefix`. */
export const openApi = (declared: HttpOperations, prefix: string, about: DocumentTexts): Record<string, unknown> => {
  const { title, version, description, securitySchemes } = about
  const paths: Record<string, Record<string, unknown>> = {}
  const add = (method: string, path: string, operation: unknown) => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  for (const [name, endpoint] of Object.entries(declared)) {
    const { method, path, alias } = endpoint
    add(method, prefix + path, operation(name, endpoint))
    if (alias !== undefined) add(alias.method, prefix + alias.path, operation(`${name}Alias`, endpoint))
  }
  for (const other of about.others) add(other.method, other.path, other.operation)
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    paths,
    security: [{}, ...Object.keys(securitySchemes).map((name) => ({ [name]: [] }))],
    components: { schemas: { Refusal: refusal }, securitySchemes },
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

/** Answers to failures, those of the guard among them, by their status. */
export const refusals = (codes: readonly FailureCode[]): Record<number, unknown> => {
  const byStatus = Map.groupBy([...new Set([...codes, ...guarded])], (code) => failures[code].status ?? 400)
  return Object.fromEntries(
    [...byStatus].map(([status, each]) => [status, refused(each.map((code) => failures[code].when).join(' '))]),
  )
}

/** The HTTP server itself says so, before any of it is read. */
const tooLong = { 431: { description: 'Address and headers are longer than 16 KiB together.' } }

const parameters = (endpoint: HttpOperation) =>
  inputFields(endpoint)
    .filter(({ from }) => from !== 'body')
    .map(({ name, from, schema, required }) => ({ name, in: from === 'params' ? 'path' : 'query', required, schema }))

const operation = (operationId: string, endpoint: HttpOperation): Record<string, unknown> => ({
  operationId,
  summary: endpoint.summary,
  description: endpoint.description,
  parameters: parameters(endpoint),
  ...(endpoint.body && { requestBody: { required: !endpoint.leniently, content: json(endpoint.body) } }),
  responses: {
    [endpoint.success.status]: { description: endpoint.success.description, content: json(endpoint.success.result) },
    // Where existing clients know no other status, 400 stands for all.
    ...(endpoint.ours && refusals(endpoint.refusals ?? [])),
    400: refused(endpoint.refusal),
    ...tooLong,
  },
})
