/** JSON-RPC 2.0 as clients really send it: what is missing and has only one meaning is filled in, the rest is refused. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Line } from '../lines.ts'

/** A message for the server, or the error that answers what is none; its `id` is null where none could be read. */
export type Read = { readonly message: JSONRPCMessage } | { readonly refusal: object } | undefined

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a line holds: a message, a batch of them, or nothing for an empty line. */
export const readLine = (line: Line): readonly Read[] => {
  if ('problem' in line) {
    return [
      refuse(-32700, line.problem === 'too_long' ? 'Parse error: the line is too long' : 'Parse error: not UTF-8'),
    ]
  }
  if (line.text.trim() === '') return []
  let value: unknown
  try {
    value = JSON.parse(line.text)
  } catch {
    return [refuse(-32700, 'Parse error: the line is not JSON')]
  }
  if (Array.isArray(value) && value.length > 0) return value.map(readMessage)
  return [readMessage(value)]
}

const refuse = (code: number, message: string, id: unknown = null): Read => ({
  refusal: { jsonrpc: '2.0', id: isId(id) ? id : null, error: { code, message } },
})

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id)

const readMessage = (value: unknown): Read => {
  if (!isObject(value)) return refuse(-32600, 'Invalid Request: not an object')
  const { id, method } = value
  if (method === undefined) {
    // Answers to requests of ours; we send none, so a stray one is nobody's.
    if ('result' in value || 'error' in value) return undefined
    return refuse(-32600, 'Invalid Request: no method', id)
  }
  if (typeof method !== 'string') return refuse(-32600, 'Invalid Request: the method is not a string', id)
  if (id !== undefined && !isId(id)) return refuse(-32600, 'Invalid Request: the id is neither a string nor an integer')
  const params = paramsOf(method, value.params)
  const wrong = id === undefined || method !== 'tools/call' ? undefined : wrongCall(params)
  if (wrong !== undefined) return refuse(-32602, `Invalid params: ${wrong}`, id)
  const message = { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, ...(params ? { params } : {}) }
  return { message: message as JSONRPCMessage }
}

/** What the SDK would call an internal error, with a page of its schema. */
const wrongCall = (params: Fields | undefined): string | undefined => {
  if (typeof params?.name !== 'string') return 'tools/call needs the name of a tool, a string'
  if (params.arguments !== undefined && !isObject(params.arguments)) return 'the arguments of a tool are an object'
  return undefined
}

const paramsOf = (method: string, params: unknown): Fields | undefined => {
  const given = isObject(params) ? params : undefined
  if (method === 'initialize') return initializeParams(given ?? {})
  if (method === 'tools/call' && given !== undefined && given.arguments === null) return { ...given, arguments: {} }
  return given
}

/** The SDK insists on all three fields; a client that leaves one out is an old or a small one. */
const initializeParams = ({ protocolVersion, capabilities, clientInfo, ...rest }: Fields): Fields => {
  const info = isObject(clientInfo) ? clientInfo : {}
  return {
    ...rest,
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : 'unknown',
    capabilities: isObject(capabilities) ? capabilities : {},
    clientInfo: { name: text(info.name, 'unknown'), version: text(info.version, '0') },
  }
}

const text = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)
