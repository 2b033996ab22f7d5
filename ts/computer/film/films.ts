/** Films of the display in files: each an MP4 that plays whenever its making ends, and a lock while it is made. */
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { filmLimits as limits } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import { type Desktop, FileLock, type Film, type FilmState, Film as NativeFilm } from '@backlot/native'
import { onPath } from '../files/failure.ts'

/** A film as it is told. */
export interface FilmRecord {
  /** Its name. */
  readonly id: string
  /** Whether it is being made, by this server or another. */
  readonly running: boolean
  /** Bytes that can be fetched. */
  readonly bytes: number
  /** When it was last written to. */
  readonly changed_at: string
  /** What is known of a film that this server makes or made; null otherwise. */
  readonly film: Omit<FilmState, 'bytes' | 'running'> | null
}

interface Making {
  readonly film: Film
  readonly lock: FileLock
}

/** What names a film, and its file. */
export const filmName = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'

/** The films of one folder; disposing of it ends those that are being made. */
export class Films implements AsyncDisposable {
  readonly #making = new Map<string, Making>()
  readonly #ended = new Map<string, FilmState>()
  #starting = 0

  constructor(
    private readonly folder: () => string,
    private readonly desktop: () => Promise<Desktop>,
  ) {}

  /** Begins one. Throws `too_many_films`, `film_in_use`, and what the native core throws. */
  async start(name: string | undefined, fps: number): Promise<FilmRecord> {
    this.#heedEnds()
    if (this.#making.size + this.#starting >= limits.most) {
      throw new Failure('too_many_films', `${limits.most} films are being made already; stop one.`)
    }
    this.#starting += 1
    try {
      const id = name ?? newName()
      await onPath(this.folder(), (path) => mkdir(path, { recursive: true, mode: 0o700 }))
      const lock = FileLock.take(this.#lockOf(id))
      if (lock === null) throw inUse(id)
      try {
        this.#making.set(id, { film: await this.#begin(id, fps), lock })
      } catch (error) {
        lock.release()
        throw error
      }
      this.#ended.delete(id)
      return await this.find(id)
    } finally {
      this.#starting -= 1
    }
  }

  /** All, by their names. */
  async list(): Promise<readonly FilmRecord[]> {
    const files = await readdir(this.folder()).catch(() => [])
    const ids = files.filter((file) => file.endsWith(extension)).map((file) => file.slice(0, -extension.length))
    const found = await Promise.all(ids.toSorted().map((id) => this.find(id).catch(() => [])))
    return found.flat()
  }

  /** One. Throws `film_not_found`. */
  async find(id: string): Promise<FilmRecord> {
    this.#heedEnds()
    const found = new RegExp(filmName).test(id) ? await stat(this.pathOf(id)).catch(() => undefined) : undefined
    if (found === undefined)
      throw new Failure('film_not_found', `There is no film "${id}"; GET /film lists them.`, { id })
    const state = this.#making.get(id)?.film.state() ?? this.#ended.get(id)
    const { bytes, running, ...film } = state ?? { bytes: found.size, running: this.#isMadeElsewhere(id) }
    return {
      id,
      running,
      bytes: running ? bytes : found.size,
      changed_at: found.mtime.toISOString(),
      film:
        state === undefined ? null : { ...(film as Omit<FilmState, 'bytes' | 'running'>), error: state.error ?? null },
    }
  }

  /** Ends one; one that has ended stays as it is. Throws `film_not_found`, and `film_in_use` for another server's. */
  async stop(id: string): Promise<FilmRecord> {
    const { running } = await this.find(id)
    const making = this.#making.get(id)
    if (making !== undefined) await this.#end(id, making)
    else if (running) throw inUse(id)
    return this.find(id)
  }

  /** Removes one, after it was ended. Throws as `stop` does. */
  async remove(id: string): Promise<FilmRecord> {
    const record = await this.stop(id)
    await onPath(this.pathOf(id), (path) => rm(path, { force: true }))
    this.#ended.delete(id)
    return record
  }

  /** Its file. */
  pathOf(id: string): string {
    return join(this.folder(), `${id}${extension}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#making].map(([id, making]) => this.#end(id, making)))
  }

  async #begin(id: string, fps: number): Promise<Film> {
    const path = this.pathOf(id)
    const desktop = await this.desktop()
    const made = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? inUse(id) : error
    })
    await made.close()
    try {
      return await NativeFilm.start(desktop, path, { fps })
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  }

  async #end(id: string, { film, lock }: Making): Promise<void> {
    const state = await film.stop()
    // Several may have waited for the same end.
    if (!this.#making.delete(id)) return
    this.#ended.set(id, state)
    lock.release()
  }

  /** Notes the ends of films that could not go on. */
  #heedEnds(): void {
    for (const [id, { film, lock }] of this.#making) {
      const state = film.state()
      if (state.running) continue
      this.#making.delete(id)
      this.#ended.set(id, state)
      lock.release()
    }
  }

  #lockOf(id: string): string {
    return join(this.folder(), `${id}.lock`)
  }

  #isMadeElsewhere(id: string): boolean {
    const lock = FileLock.take(this.#lockOf(id))
    lock?.release()
    return lock === null
  }
}

const extension = '.mp4'

const inUse = (id: string): Failure =>
  new Failure('film_in_use', `There is a film "${id}" already, or another server makes it; choose another name.`, {
    id,
  })

/** `film-20261122-204509-9f3a`: in the order in which they began. */
const newName = (): string => {
  const [day = '', time = ''] = new Date().toISOString().replace(/[-:]/g, '').split(/[T.]/)
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(2))).toString('hex')
  return `film-${day}-${time}-${random}`
}
