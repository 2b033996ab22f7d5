/** Locks on files that lie beside the data, so that services with another home, session or path to the same data see the same lock. */
import { existsSync, fstatSync, lstatSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { realPath } from '../storage/real-path.ts'

/** A file that a process holds a lock on (flock(2)). */
export interface LockedFile {
  /** Null once it was left or released. */
  readonly descriptor: number | null
  /** Closes the file and leaves it where it is. */
  leave(): void
}

/** Takes the lock on a file, which is made where it is missing; undefined where another holds it. */
export type TakeFile = (path: string) => LockedFile | undefined

/** How a lock is waited for. */
export interface LockOptions {
  readonly signal?: AbortSignal | undefined
  /** Milliseconds until `whileHeld` is told that it is late; without it as long as it takes. */
  readonly patienceMs?: number
  /** Called whenever another service was found to hold it; may throw. */
  whileHeld?(isLate: boolean): void
}

interface Entry {
  path: string
  readonly file: LockedFile
  holders: number
}

/** Milliseconds between two looks whether another service has let go. */
const looksEveryMs = 25

/**
 * The locks that this service holds. Inside the service a lock is shared: there `KeyedLock` keeps work apart, and who looks after
 * a running VM holds its lock beside whoever works on it.
 */
export class FileLocks {
  readonly #entries = new Map<string, Entry>()

  constructor(readonly takeFile: TakeFile) {}

  /** Takes the lock on that file; undefined where another service holds it. Throws `lock_refused` and `vm_damaged`. */
  tryTake(named: string): Disposable | undefined {
    const path = ownPath(named)
    let entry = this.#entries.get(path)
    if (entry === undefined) {
      const file = takeLock(this.takeFile, path)
      if (file === undefined) return undefined
      entry = { path, file, holders: 0 }
      this.#entries.set(path, entry)
    }
    return this.#share(entry)
  }

  /** Takes the lock once no other service holds it; throws as `tryTake` does, what `whileHeld` throws, and when cancelled. */
  async take(
    path: string,
    { signal, patienceMs = Number.POSITIVE_INFINITY, whileHeld }: LockOptions,
  ): Promise<Disposable> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      signal?.throwIfAborted()
      const held = this.tryTake(path)
      if (held !== undefined) return held
      whileHeld?.(performance.now() >= deadline)
      await Bun.sleep(looksEveryMs)
    }
  }

  /** The folder of a lock that is held was renamed: the file has another path from now on. */
  moved(from: string, to: string): void {
    const before = ownPath(from)
    const entry = this.#entries.get(before)
    if (entry === undefined) return
    this.#entries.delete(before)
    entry.path = ownPath(to)
    this.#entries.set(entry.path, entry)
  }

  #share(entry: Entry): Disposable {
    entry.holders += 1
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        entry.holders -= 1
        if (entry.holders > 0) return
        if (this.#entries.get(entry.path) === entry) this.#entries.delete(entry.path)
        letGo(entry)
      },
    }
  }
}

/** By whatever path its folder is reached, a file is the same one. */
const ownPath = (path: string): string => join(realPath(dirname(path)), basename(path))

/** Removes the file, unless it went with its folder and another's may stand in its place. */
const letGo = ({ path, file }: Entry): void => {
  if (file.descriptor === null) return
  try {
    const [held, there] = [fstatSync(file.descriptor), lstatSync(path)]
    // While it is held nobody else puts another file there.
    if (held.dev === there.dev && held.ino === there.ino) rmSync(path, { force: true })
  } catch {
    // It is gone, or stays for the next one to take.
  }
  file.leave()
}

/** Takes the lock on a file; throws `lock_refused` where the system refuses it, `vm_damaged` where something else is there. */
export const takeLock = <File>(take: (path: string) => File, path: string): File => {
  try {
    return take(path)
  } catch (error) {
    throw refusalOf(path, (error as Error).message)
  }
}

const refusalOf = (path: string, reason: string): Failure => {
  const begin = `The lock "${path}" cannot be taken:`
  try {
    const there = lstatSync(path, { throwIfNoEntry: false })
    if (there !== undefined && !there.isFile()) {
      const next = 'Remove it where no hypervisor of the VM runs.'
      return new Failure('vm_damaged', `${begin} it is no file. ${next}`, { path })
    }
    if (there !== undefined && there.uid !== process.geteuid?.()) {
      const next = 'Use a service of that user, or remove the file where nothing of it runs.'
      return new Failure('lock_refused', `${begin} it belongs to another user (${there.uid}). ${next}`, { path })
    }
  } catch {
    // What the system said first is said below.
  }
  const next = existsSync(dirname(path)) ? 'Make its folder one that can be written to.' : 'Its folder is gone.'
  return new Failure('lock_refused', `${begin} ${reason}. ${next}`, { path })
}
