/** What the page knows of the sandboxes of the machine: their list, read again and again while somebody looks. */
import type { HostSandbox } from '@backlot/contract/vmhost/sandboxes'
import { sandboxService } from '../reach.ts'

/** Milliseconds from the end of one look to the next: sandboxes begin and end without a word to the service. */
const pollIntervalMs = 4_000

/** The sandboxes as the page sees them; `follow` is called after each change. */
export class SandboxState {
  sandboxes: readonly HostSandbox[] = []
  /** Whether they have been read once. */
  isRead = false
  /** Why they could not be read. */
  fault: string | undefined
  readonly #followers = new Set<() => void>()
  #turn = 0

  constructor() {
    void this.#lookOn()
  }

  follow(follower: () => void): () => void {
    this.#followers.add(follower)
    return () => void this.#followers.delete(follower)
  }

  /** Reads them afresh. Answers may overtake each other: the last question counts. */
  async read(): Promise<void> {
    this.#turn += 1
    const turn = this.#turn
    const read = await sandboxService.listSandboxes().then(
      (sandboxes) => ({ sandboxes, fault: undefined }),
      (error: Error) => ({ sandboxes: this.sandboxes, fault: error.message }),
    )
    if (turn !== this.#turn) return
    this.sandboxes = read.sandboxes
    this.fault = read.fault
    this.isRead ||= read.fault === undefined
    for (const follower of this.#followers) follower()
  }

  async #lookOn(): Promise<void> {
    if (document.visibilityState === 'visible') await this.read()
    setTimeout(() => void this.#lookOn(), pollIntervalMs)
  }
}
