/** Saved sandboxes. */
import type { CallOptions, Listing } from './basics.ts'
import { InvalidArgumentError, NotFoundError } from './errors.ts'
import { listing } from './sandbox/listing.ts'
import type { SavedSandbox } from './sandbox/options.ts'
import { runtimesFor } from './sandbox/resolve.ts'
import type { LookupOptions } from './sandbox/where.ts'

let wrap: (saved: SavedSandbox) => Snapshot

/** A saved sandbox. */
export class Snapshot implements SavedSandbox {
  readonly id: string
  readonly name: string | null
  readonly sizeBytes: number
  /** Name of the sandbox that it is of. */
  readonly sandbox: string
  /** The runtime's key, or `cloud`. */
  readonly source: string
  /** Whether programs go on from it. */
  readonly memory: boolean
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** Deletes it, to no harm of the sandboxes made from it. */
  readonly delete: (options?: CallOptions) => Promise<void>

  private constructor(saved: SavedSandbox) {
    this.id = saved.id
    this.name = saved.name
    this.sizeBytes = saved.sizeBytes
    this.sandbox = saved.sandbox
    this.source = saved.source
    this.memory = saved.memory
    this.createdAt = saved.createdAt
    this.delete = (options) => saved.delete(options)
  }

  /** The snapshots there are, newest first. */
  static list(options: LookupOptions & { sandbox?: string; pageSize?: number } = {}): Listing<Snapshot> {
    return listing(async () => {
      const found: Snapshot[] = []
      for (const runtime of await runtimesFor(options, 'snapshot')) {
        for await (const saved of runtime.listSnapshots(options)) found.push(new Snapshot(saved))
      }
      return found
        .filter(({ sandbox }) => options.sandbox === undefined || sandbox === options.sandbox)
        .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
    })
  }

  /** The snapshot of that id or name; throws `snapshot_not_found`. */
  static async get(id: string, options: LookupOptions = {}): Promise<Snapshot> {
    if (typeof id !== 'string' || id === '') {
      throw new InvalidArgumentError(
        'invalid_argument',
        `"id" is ${JSON.stringify(id)}; give the id or name of a snapshot.`,
      )
    }
    const all = await Snapshot.list(options)
    const found = all.find((each) => each.id === id) ?? all.find((each) => each.name === id)
    if (found !== undefined) return found
    const text = `There is no snapshot "${id}". \`Snapshot.list()\` names those there are.`
    throw new NotFoundError('snapshot_not_found', text, { data: { id } })
  }

  static {
    wrap = (saved) => new Snapshot(saved)
  }
}

/** A snapshot as users have it. */
export const snapshotOf = (saved: SavedSandbox): Snapshot => (saved instanceof Snapshot ? saved : wrap(saved))
