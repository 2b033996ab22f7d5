/** What callers send to commands in guests that were begun with an `inputId`. */
import { Failure } from '@backlot/contract/failure'
import type { Host } from '../host/host.ts'
import { findVm } from '../lifecycle/find.ts'
import type { VmPlace } from '../vms/vm-store.ts'

/** Milliseconds that an input waits for its command: who sends both at once may have them heard in any order. */
const commandComesWithinMs = 10_000

/** What became of an input. */
export interface InputResult {
  /** Bytes that the command was given. */
  readonly size: number
  /** Whether that is all of it; the command read no more where it is not. */
  readonly isWhole: boolean
}

/** An input that a command waits for. */
interface Awaited {
  give(body: ReadableStream<Uint8Array>): Promise<InputResult>
}

const awaited = new Map<string, Awaited>()

const keyOf = ({ path }: VmPlace, inputId: string): string => `${path}\n${inputId}`

const readerOf = (body: ReadableStream<Uint8Array>) => body.getReader()

/** What a command is to read, once somebody sends it; whoever takes no more of it cancels it. Throws `invalid_argument`. */
export const awaitInput = (vm: VmPlace, inputId: string): ReadableStream<Uint8Array> => {
  const key = keyOf(vm, inputId)
  if (awaited.has(key)) {
    const why = `A command of "${vm.name}" waits for an input of that name already; give each another.`
    throw new Failure('invalid_argument', why, { argument: 'inputId' })
  }
  const body = Promise.withResolvers<ReadableStream<Uint8Array>>()
  const taken = Promise.withResolvers<InputResult>()
  let reader: ReturnType<typeof readerOf> | undefined
  let size = 0
  awaited.set(key, {
    give(given) {
      awaited.delete(key)
      body.resolve(given)
      return taken.promise
    },
  })
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    reader ??= readerOf(await body.promise)
    const { done, value } = await reader.read().catch(() => {
      taken.resolve({ size, isWhole: false })
      throw new Failure('cancelled', 'What the command reads broke off; the command is ended.')
    })
    if (value !== undefined) {
      size += value.length
      controller.enqueue(value)
    }
    if (done) {
      controller.close()
      taken.resolve({ size, isWhole: true })
    }
  }
  const cancel = async () => {
    awaited.delete(key)
    taken.resolve({ size, isWhole: false })
    await reader?.cancel().catch(() => undefined)
  }
  return new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })
}

/** Sends a command its input, and settles when it has it or reads no more. Throws `vm_not_found` and `input_not_awaited`. */
export const sendInput = async (
  host: Host,
  { name, inputId, storage }: { name: string; inputId: string; storage?: string | undefined },
  body: ReadableStream<Uint8Array>,
): Promise<InputResult> => {
  const vm = await findVm(host, name, storage)
  const deadline = performance.now() + commandComesWithinMs
  for (;;) {
    const waiting = awaited.get(keyOf(vm, inputId))
    if (waiting !== undefined) return waiting.give(body)
    if (performance.now() > deadline) throw notAwaited(name, inputId)
    await Bun.sleep(20)
  }
}

const notAwaited = (name: string, inputId: string): Failure =>
  new Failure(
    'input_not_awaited',
    `No command of "${name}" waits for the input "${inputId}"; begin one with that \`inputId\`, and send its input once.`,
    { name, inputId },
  )
