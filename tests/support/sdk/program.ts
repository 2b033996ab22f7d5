/**
 * A program that uses the SDK, under whichever runtime starts it. Its first argument says how it connects; each line of its
 * input is `{"id", "code", "argument"}`: the text of a function, which it calls with the computer, the argument, the package
 * and what earlier functions kept; it answers with `{"id", "result"}` or `{"id", "error"}`.
 */
import { createInterface } from 'node:readline'
import * as sdk from '@backlot/sdk'

const { kind, url, apiKey } = JSON.parse(process.argv[2] ?? '') as {
  kind: 'http' | 'websocket' | 'local'
  url: string
  apiKey?: string
}

/** Connected by a transport, as a sandbox is. */
class Connected extends sdk.Computer {
  constructor(transport: sdk.Transport) {
    super(transport)
  }
}

const key = apiKey === undefined ? {} : { apiKey }
const computer =
  kind === 'local'
    ? await sdk.Localhost.connect()
    : new Connected(kind === 'http' ? new sdk.HTTPTransport(url, key) : new sdk.WebSocketTransport(url, key))
const kept: Record<string, unknown> = {}

const answer = async (line: string): Promise<object> => {
  const { id, code, argument } = JSON.parse(line) as { id: number; code: string; argument: unknown }
  try {
    const work = new Function(`return (${code})`)() as (...given: unknown[]) => unknown
    return { id, result: (await work(computer, argument, sdk, kept)) ?? null }
  } catch (error) {
    const { name, message, code: named, data, output, retryable } = error as Record<string, unknown>
    const isOurs = sdk.BacklotError.is(error)
    return { id, error: { name, message: String(message ?? error), code: named, data, output, retryable, isOurs } }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  void answer(line).then((said) => process.stdout.write(`${JSON.stringify(said)}\n`))
}
await computer.disconnect()
