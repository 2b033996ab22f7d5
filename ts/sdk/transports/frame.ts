/** One command by `POST /cmd`, whose answer is one frame of text that carries JSON. */
import type { Fields } from '../basics.ts'
import { UnavailableError } from '../errors.ts'
import { invalidResponse, readFrom } from './loss.ts'
import type { Routes } from './routes.ts'

/** Sends a command and gives what the server answered. */
export const postCommand = async (
  to: Routes,
  where: string,
  action: string,
  params: Fields,
  signal: AbortSignal,
): Promise<Fields> => {
  const response = await to.fetch('/cmd', { method: 'POST', json: { command: action, params }, signal })
  return answerIn(await readFrom(where, signal, response.text()), where)
}

/** What the last frame of an answer holds; those before it tell of progress. */
const answerIn = (text: string, where: string): Fields => {
  const frame = text.trimEnd().split('\n\n').at(-1) ?? ''
  const data = frame.split('\n').find((line) => line.startsWith('data:'))
  if (data === undefined) {
    throw new UnavailableError(
      'server_incompatible',
      `What answers at "${where}" is no computer server; name the address of one.`,
      { data: { url: where } },
    )
  }
  return parseAnswer(data.slice('data:'.length), where)
}

/** An answer out of its JSON. Throws `invalid_response`. */
export const parseAnswer = (json: string, where: string): Fields => {
  let answer: unknown
  try {
    answer = JSON.parse(json)
  } catch {
    throw invalidResponse(where, 'it ends early, or is no JSON')
  }
  if (typeof answer === 'object' && answer !== null && 'success' in answer) return answer as Fields
  throw invalidResponse(where, 'it does not say whether the command succeeded')
}
