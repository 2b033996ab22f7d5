/** An output of a command in a guest, which its pipe is written to files of (`guest-pipes.ts`), read through the agent. */
import { Failure } from '@backlot/contract/failure'
import type { AgentAnswer, AgentCommand } from './agent.ts'

/** Bytes that are read at a time. */
const partBytes = 256 * 1024

/** What the agent is asked about. */
type Topic = 'first' | 'end' | 'content' | 'next' | 'emptied' | 'closed'

type Question = readonly [Topic, AgentCommand]

export class OutputReader {
  /** Whether nothing follows. */
  isOver = false
  /** Whether the last answers told of more than of nothing new. */
  isMoving = false
  /** The number of the file that is read, and by what the agent knows it, once it is open. */
  #number = 0
  #handle: number | undefined
  /** The file behind it, once that is open: nothing is added any more to the one that is read. */
  #next: number | undefined
  /** Whether no further file comes. */
  #isLast = false
  /** A file that was read and is to be emptied, and what is open and of no more use. */
  #read: number | undefined
  #unused: number[] = []
  #mark: Buffer | undefined
  /** Bytes that may be the beginning of the mark. */
  #held: Buffer = Buffer.alloc(0)

  /** `path`: of its files, without their numbers. */
  constructor(readonly path: string) {}

  /** Whether it has a file. */
  get hasBegun(): boolean {
    return this.#handle !== undefined
  }

  /** From now on these bytes may stand behind the last ones. */
  expect(mark: string): void {
    this.#mark ??= Buffer.from(mark)
  }

  /** What the agent is to be asked now. */
  questions(hasEnded: boolean): Question[] {
    const before: Question[] = [
      ...this.#unused.map((handle): Question => ['closed', closing(handle)]),
      ...(this.#read === undefined ? [] : [['emptied', opening(this.#file(this.#read), 'w')] as const]),
    ]
    this.#unused = []
    this.#read = undefined
    if (this.isOver) return before
    if (this.#handle === undefined) return [['first', opening(this.#file(0))]]
    const reading = { execute: 'guest-file-read', arguments: { handle: this.#handle, count: partBytes } }
    return [
      ...before,
      // Where that is there, all that follows is true for good.
      ...(hasEnded && !this.#isLast ? [['end', opening(`${this.path}.end`)] as const] : []),
      ['content', reading],
      ...(this.#next === undefined ? [['next', opening(this.#file(this.#number + 1))] as const] : []),
    ]
  }

  /** Takes the answers to these questions, and gives the bytes that they tell of. */
  hear(questions: readonly Question[], answers: readonly AgentAnswer[]): Uint8Array {
    const hadNext = this.#next !== undefined
    let bytes: Buffer | undefined
    this.isMoving = false
    for (const [index, [topic]] of questions.entries()) {
      const answer = answers[index]
      if (topic === 'content') bytes = contentOf(answer)
      else if (topic !== 'closed' && answer !== undefined && 'returned' in answer)
        this.#opened(topic, Number(answer.returned))
    }
    if (bytes === undefined) return nothing
    if (bytes.length > 0) this.isMoving ||= bytes.length === partBytes
    else if (hadNext) this.#turn()
    else if (this.#isLast && this.#next === undefined) this.isOver = true
    return this.#withoutMark(bytes)
  }

  /** What lets go of all that is open. */
  closings(): AgentCommand[] {
    const open = [this.#handle, this.#next, ...this.#unused]
    return open.flatMap((handle) => (handle === undefined ? [] : [closing(handle)]))
  }

  #file(number: number): string {
    return `${this.path}.${number}`
  }

  #opened(topic: Topic, handle: number): void {
    this.isMoving = true
    if (topic === 'first') this.#handle = handle
    else if (topic === 'next') this.#next = handle
    else this.#unused.push(handle)
    if (topic === 'end') this.#isLast = true
  }

  /** Goes on with the next file: the one before is whole and read, and whoever writes waits until it is emptied. */
  #turn(): void {
    if (this.#handle !== undefined) this.#unused.push(this.#handle)
    this.#read = this.#number
    this.#number += 1
    this.#handle = this.#next
    this.#next = undefined
    this.isMoving = true
  }

  #withoutMark(bytes: Buffer): Uint8Array {
    if (this.#mark === undefined) return bytes
    const all = Buffer.concat([this.#held, bytes])
    const at = all.indexOf(this.#mark)
    if (at >= 0) this.isOver = true
    const known = at >= 0 ? at : this.isOver ? all.length : Math.max(0, all.length - this.#mark.length + 1)
    this.#held = all.subarray(known)
    return all.subarray(0, known)
  }
}

const nothing = new Uint8Array(0)

const opening = (path: string, mode: 'r' | 'w' = 'r'): AgentCommand => ({
  execute: 'guest-file-open',
  arguments: { path, mode },
})

/** What has the agent let go of a file. */
export const closing = (handle: number): AgentCommand => ({ execute: 'guest-file-close', arguments: { handle } })

const contentOf = (answer: AgentAnswer | undefined): Buffer => {
  const { 'buf-b64': base64 = '' } = returnedBy(answer) as { 'buf-b64'?: string }
  return Buffer.from(base64, 'base64')
}

/** What the agent returned. Throws `agent_unavailable` where it refused: one that started anew knows nothing of a command. */
export const returnedBy = (answer: AgentAnswer | undefined): unknown => {
  if (answer !== undefined && 'returned' in answer) return answer.returned
  throw new Failure('agent_unavailable', `The guest agent lost a command: ${answer?.refused}. Start it again.`)
}
