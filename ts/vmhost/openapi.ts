/** The OpenAPI 3.1 document of the service, read off the declarations. */
import { type Endpoint, type Endpoints, inputFields } from '@backlot/contract/endpoint'

/** The document, with every operation under `prefix`. */
export const openApi = (declared: Endpoints, prefix: string, version: string): Record<string, unknown> => {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, endpoint] of Object.entries(declared)) {
    const path = `${prefix}${endpoint.path}`
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(name, endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Backlot VM host', version },
    paths,
    components: { schemas: { Refusal: refusal } },
  }
}

const refusal = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', description: 'Stable name of the failure.' },
    message: { type: 'string', description: 'What is wrong, for people.' },
    detail: { type: 'string', description: 'Which field of the body is wrong, and how.' },
  },
}

const json = (schema: unknown): Record<string, unknown> => ({ 'application/json': { schema } })

const operation = (operationId: string, endpoint: Endpoint): Record<string, unknown> => ({
  operationId,
  summary: endpoint.summary,
  description: endpoint.description,
  parameters: inputFields(endpoint)
    .filter(({ from }) => from !== 'body')
    .map(({ name, from, schema, required }) => ({ name, in: from === 'params' ? 'path' : 'query', required, schema })),
  ...(endpoint.body && { requestBody: { required: true, content: json(endpoint.body) } }),
  responses: {
    [endpoint.success.status]: { description: endpoint.success.description, content: json(endpoint.success.result) },
    400: { description: endpoint.refusal, content: json({ $ref: '#/components/schemas/Refusal' }) },
  },
})
