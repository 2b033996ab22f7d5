/** `WS /ws`: one command in each message, answered in the order in which they came. */
import { longestComputerMessageBytes, mostWaitingCommands } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import type { SocketHandler, WebSocketOfServer } from '@backlot/serve'
import { type CommandAnswer, type Computer, flattened, runCommand, unknownCommand } from '../command/run.ts'

type Message = Readonly<Record<string, unknown>>

/** Who may use a socket whose handshake showed no key. */
export interface SocketAccess {
  /** Whether the handshake has shown all that is asked for. */
  readonly isAdmitted: boolean
  /** Whether a key is the one that is asked for. */
  isKey(key: string): boolean
}

/** Handles one socket. */
export const commandSocket = (computer: () => Promise<Computer>, access: SocketAccess): SocketHandler => {
  const closed = new AbortController()
  let { isAdmitted } = access
  let waiting = 0
  let waitingBytes = 0
  let turn: Promise<void> = Promise.resolve()
  /** Settles when what was sent has left, or never will. */
  let drained = Promise.withResolvers<void>()

  const admit = (key?: string): boolean => {
    isAdmitted ||= key !== undefined && access.isKey(key)
    return isAdmitted
  }

  const take = async (socket: WebSocketOfServer, text: string): Promise<void> => {
    if (closed.signal.aborted) return
    const answer = await answerTo(text, { computer, admit, signal: closed.signal }).catch(refused)
    if (closed.signal.aborted) return
    // A client that does not read its answers gets no more.
    if (socket.send(JSON.stringify(answer)) === -1) {
      drained = Promise.withResolvers()
      await drained.promise
    }
    // Who does not show the key has one try.
    if (!isAdmitted) socket.close(1008, 'API key required')
  }

  return {
    message(socket, message) {
      const text = typeof message === 'string' ? message : message.toString('utf8')
      waiting += 1
      waitingBytes += text.length
      if (waiting > mostWaitingCommands || waitingBytes > 2 * longestComputerMessageBytes) {
        socket.close(1013, 'too many commands wait for their turn')
        return
      }
      turn = turn.then(async () => {
        await take(socket, text)
        waiting -= 1
        waitingBytes -= text.length
      })
    },
    drain: () => drained.resolve(),
    close() {
      closed.abort()
      drained.resolve()
    },
  }
}

interface Session {
  computer(): Promise<Computer>
  /** Whether the session may use commands, once it has shown the key. */
  admit(key?: string): boolean
  /** Aborted when the socket is closed. */
  readonly signal: AbortSignal
}

const answerTo = async (text: string, { computer, admit, signal }: Session): Promise<CommandAnswer | undefined> => {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch (error) {
    return failed(`Invalid JSON: ${(error as Error).message}`, 'invalid_json')
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return failed('Invalid JSON: it is no object', 'invalid_json')
  }
  const { command } = message as Message
  if (typeof command !== 'string' || command === '') return failed('Command is required', 'missing_argument')
  if (command === 'authenticate') {
    return admit(keyOf(message as Message)) ? { success: true } : failed('Authentication failed', 'unauthorized')
  }
  if (!admit()) return failed('API key required', 'unauthorized')
  return run(await computer(), command, message as Message, signal)
}

const failed = (error: string, code: string): CommandAnswer => ({ success: false, error, code })

/** The answer where there is nothing that commands could be run on. */
const refused = (error: unknown): CommandAnswer => failed(Failure.from(error).message, Failure.from(error).code)

const keyOf = ({ params, ...rest }: Message): string => {
  const { api_key } = (params ?? rest) as Message
  return typeof api_key === 'string' ? api_key : ''
}

/** In the flat form the other fields of the message are the parameters. */
const run = async (
  computer: Computer,
  command: string,
  message: Message,
  signal: AbortSignal,
): Promise<CommandAnswer | undefined> => {
  const { command: _, params, ...fields } = message
  const isFlat = !Object.hasOwn(message, 'params')
  const answer = await runCommand(computer, command, isFlat ? fields : params, { signal })
  if (answer === undefined) return failed(unknownCommand(command), 'unknown_command')
  return isFlat ? flattened(command, answer) : answer
}
