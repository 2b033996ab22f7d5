/** One WebSocket for commands: the server answers them in the order in which they were sent. */
import type { Fields } from '../../basics.ts'
import { parseAnswer } from '../frame.ts'
import { connectionLost } from '../loss.ts'
import type { RouteSocket } from '../routes.ts'

/** A command that was sent and is not answered. */
interface Pending {
  settle(answer: Fields): void
  refuse(error: unknown): void
  /** Whether nobody waits for the answer any more. */
  isAbandoned: boolean
}

/** Sends commands and matches their answers. */
export class CommandConnection {
  #socket: RouteSocket | undefined
  readonly #pending: Pending[] = []
  #isRetired = false
  /** Why it ended; undefined while it is open. */
  ended: string | undefined

  constructor(private readonly where: string) {}

  /** Whether commands may be sent: it is open, and no answer is overdue that later ones would wait for. */
  get isUsable(): boolean {
    return this.ended === undefined && !this.#isRetired && !this.#pending.some(({ isAbandoned }) => isAbandoned)
  }

  attach(socket: RouteSocket): void {
    this.#socket = socket
  }

  message(message: string | Uint8Array): void {
    const next = this.#pending.shift()
    if (next === undefined) return
    try {
      next.settle(parseAnswer(typeof message === 'string' ? message : new TextDecoder().decode(message), this.where))
    } catch (error) {
      next.refuse(error)
    }
    this.#closeIfIdle()
  }

  closed(reason: string): void {
    if (this.ended !== undefined) return
    this.ended = reason
    for (const { refuse } of this.#pending.splice(0)) refuse(connectionLost(this.where, reason))
  }

  /** Sends a message and gives its answer; once the signal is aborted the answer is not waited for. */
  ask(message: Fields, signal: AbortSignal): Promise<Fields> {
    return new Promise<Fields>((settle, refuse) => {
      if (signal.aborted || this.#socket === undefined || this.ended !== undefined) {
        refuse(signal.aborted ? signal.reason : connectionLost(this.where, this.ended ?? 'it is not open'))
        return
      }
      const abandon = () => {
        pending.isAbandoned = true
        refuse(signal.reason)
      }
      const over = () => signal.removeEventListener('abort', abandon)
      const pending: Pending = {
        isAbandoned: false,
        settle(answer) {
          over()
          settle(answer)
        },
        refuse(error) {
          over()
          refuse(error)
        },
      }
      signal.addEventListener('abort', abandon, { once: true })
      this.#pending.push(pending)
      try {
        this.#socket.send(JSON.stringify(message))
      } catch (error) {
        this.#pending.splice(this.#pending.indexOf(pending), 1)
        pending.refuse(error)
      }
    })
  }

  /** Sends nothing more, and closes once all that is waited for is answered: what is overdue is given up then. */
  retire(): void {
    this.#isRetired = true
    this.#closeIfIdle()
  }

  close(): void {
    this.#isRetired = true
    this.#socket?.close()
    this.closed('this program closed it')
  }

  #closeIfIdle(): void {
    if (this.#isRetired && this.#pending.every(({ isAbandoned }) => isAbandoned)) this.close()
  }
}
