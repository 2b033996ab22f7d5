/** Long work, told while it is under way, and for a while after. */
import { Failure } from '@backlot/contract/failure'
import type { Operation, OperationKind } from '@backlot/contract/vmhost/operation'
import type { Events } from './events.ts'

/** Operations of the VM host that are remembered, those under way aside. */
const operationsKept = 200

/** What work under way does with its operation. */
export interface Task {
  readonly id: string
  /** Aborted when somebody cancels. */
  readonly signal: AbortSignal
  /** Says what is being done now; progress begins anew. */
  step(text: string): void
  progress(doneBytes: number, totalBytes: number | null): void
  /** Keeps the last lines that a program wrote. */
  message(line: string): void
}

/** Work that was begun: `done` settles with its result, or throws why it failed. */
export interface StartedTask<T> {
  readonly id: string
  readonly done: Promise<T>
}

interface Entry {
  operation: Operation
  readonly abort: AbortController
  readonly path: string
  done: Promise<unknown>
  rate: { at: number; bytes: number }
  reportedAt: number
}

const cancel = ({ abort, operation: { id, kind, name } }: Entry): void => {
  if (abort.signal.aborted) return
  abort.abort(
    new Failure('cancelled', `"${kind}" of the VM "${name}" was cancelled. Ask for it again where it is wanted.`, {
      id,
    }),
  )
}

/** Milliseconds between two events about the progress of the same work. */
const tellEveryMs = 200
const mostMessages = 20

/** The operations of this run of the service. */
export class Operations {
  readonly #entries = new Map<string, Entry>()
  #isEnding = false

  constructor(
    readonly events: Events,
    readonly report: (operation: Operation) => void,
  ) {}

  /** Begins work on the VM in the folder `path`. */
  begin<T>(
    kind: OperationKind,
    vm: { readonly name: string; readonly path: string; readonly storage: { readonly name: string } },
    work: (work: Task) => Promise<T>,
    /** That of an operation which a service before this one has begun. */
    id: string = crypto.randomUUID(),
  ): StartedTask<T> {
    const entry: Entry = {
      operation: {
        id,
        kind,
        name: vm.name,
        location: vm.storage.name,
        state: 'running',
        step: null,
        startedAt: new Date().toISOString(),
        endedAt: null,
        progress: null,
        cause: null,
        messages: [],
      },
      abort: new AbortController(),
      path: vm.path,
      done: Promise.resolve(),
      rate: { at: 0, bytes: 0 },
      reportedAt: 0,
    }
    this.#entries.set(id, entry)
    this.#forgetOld()
    this.#tell(entry)
    const done = this.#run(entry, work)
    // Whoever does not wait for it reads the outcome off the operation.
    entry.done = done.catch(() => undefined)
    return { id, done }
  }

  /** Whether what is under way ends because the service does. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** All of them, the latest last. */
  list(): Operation[] {
    return [...this.#entries.values()].map(({ operation }) => operation)
  }

  /** The operation of that id; throws `operation_not_found`. */
  get(id: string): Operation {
    return this.#entry(id).operation
  }

  /** Cancels one that is under way; throws `operation_not_found` and `operation_over`. */
  cancel(id: string): Operation {
    const entry = this.#entry(id)
    if (entry.operation.state !== 'running') {
      throw new Failure(
        'operation_over',
        `The operation "${id}" is ${entry.operation.state} already; nothing to cancel.`,
        { id },
      )
    }
    cancel(entry)
    return entry.operation
  }

  /** Cancels what of these kinds is under way on the VM in that folder, and settles when it has ended. */
  async interrupt(path: string, kinds: readonly OperationKind[]): Promise<void> {
    const found = [...this.#entries.values()].filter(
      ({ operation, path: own }) => own === path && operation.state === 'running' && kinds.includes(operation.kind),
    )
    for (const entry of found) cancel(entry)
    await Promise.allSettled(found.map(({ done }) => done))
  }

  /** Cancels everything that is under way and waits for it to end, but no longer than so many milliseconds. */
  async cancelAll(patienceMs: number): Promise<void> {
    this.#isEnding = true
    const running = [...this.#entries.values()].filter(({ operation }) => operation.state === 'running')
    for (const entry of running) cancel(entry)
    let timer: Timer | undefined
    const late = new Promise<void>((settle) => {
      timer = setTimeout(settle, patienceMs)
    })
    await Promise.race([Promise.allSettled(running.map(({ done }) => done)), late])
    clearTimeout(timer)
  }

  /** The latest operation on the VM in that folder. */
  latest(path: string): Operation | undefined {
    return [...this.#entries.values()].findLast((entry) => entry.path === path)?.operation
  }

  /** The same once it has ended, however that was. */
  async ended(path: string): Promise<Operation | undefined> {
    const entry = [...this.#entries.values()].findLast((each) => each.path === path)
    await entry?.done
    return entry?.operation
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id)
    if (entry !== undefined) return entry
    throw new Failure('operation_not_found', `There is no operation "${id}"; \`GET /svc/operations\` lists them.`, {
      id,
    })
  }

  async #run<T>(entry: Entry, work: (work: Task) => Promise<T>): Promise<T> {
    const change = (changes: Partial<Operation>) => {
      entry.operation = { ...entry.operation, ...changes }
    }
    try {
      const result = await work({
        id: entry.operation.id,
        signal: entry.abort.signal,
        step: (step) => {
          entry.rate = { at: performance.now(), bytes: 0 }
          change({ step, progress: null })
          this.#tell(entry)
        },
        progress: (doneBytes, totalBytes) => {
          const seconds = (performance.now() - entry.rate.at) / 1000
          const bytesPerSecond = seconds > 0 ? Math.round((doneBytes - entry.rate.bytes) / seconds) : 0
          if (seconds > 2) entry.rate = { at: performance.now(), bytes: doneBytes }
          change({ progress: { doneBytes, totalBytes, bytesPerSecond: Math.max(0, bytesPerSecond) } })
          if (performance.now() - entry.reportedAt >= tellEveryMs) this.#tell(entry)
        },
        message: (line) => change({ messages: [...entry.operation.messages, line].slice(-mostMessages) }),
      })
      change({ state: 'done' })
      return result
    } catch (error) {
      const { aborted, reason } = entry.abort.signal
      // What cancelled work stumbles over is no news.
      const failure = Failure.from(aborted ? reason : error)
      change({
        state: aborted ? 'cancelled' : 'failed',
        cause: { code: failure.code, message: failure.message },
      })
      throw failure
    } finally {
      change({ endedAt: new Date().toISOString() })
      this.#tell(entry)
      this.report(entry.operation)
    }
  }

  #tell(entry: Entry): void {
    entry.reportedAt = performance.now()
    this.events.emit({ type: 'operation', operation: entry.operation })
  }

  #forgetOld(): void {
    for (const [id, { operation }] of this.#entries) {
      if (this.#entries.size <= operationsKept) return
      if (operation.state !== 'running') this.#entries.delete(id)
    }
  }
}
