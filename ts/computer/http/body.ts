/** Reads the bodies of requests. */

import { longestComputerMessageBytes } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'

/** The body as text. Throws `invalid_body` where it is longer than a message may be or ends early. */
export const readText = async (request: Request): Promise<string> => {
  const announced = Number(request.headers.get('content-length') ?? 0)
  const tooLong = () =>
    new Failure(
      'invalid_body',
      `The body is longer than ${longestComputerMessageBytes} bytes; send a file of that size to /files.`,
    )
  if (announced > longestComputerMessageBytes) throw tooLong()
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of request.body ?? []) {
      length += part.byteLength
      if (length > longestComputerMessageBytes) throw tooLong()
      parts.push(part)
    }
  } catch (error) {
    throw error instanceof Failure
      ? error
      : new Failure('invalid_body', `The body ended early: ${(error as Error).message}`)
  }
  return new TextDecoder().decode(parts.length === 1 ? parts[0] : Buffer.concat(parts))
}

/** Whether the request says that its body is JSON. */
export const isJsonRequest = ({ headers }: Request): boolean =>
  /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')
