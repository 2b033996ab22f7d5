/** What the person decided about this host, in one file: read when it is another, changed whole or not at all. */

import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { images } from '@backlot/contract/limits'
import type { Directories } from '@backlot/contract/places'
import { Queue } from '@backlot/contract/queue'
import { Location } from '@backlot/contract/vmhost/location'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { core } from '../core.ts'
import { makeFolder, readIfThere, replaceFile } from '../files/durable.ts'
import { FileLocks } from '../files/file-locks.ts'

const Decided = Type.Object({
  homeDirectory: Type.Optional(Type.String()),
  cacheDirectory: Type.Optional(Type.String()),
  cachingEnabled: Type.Optional(Type.Boolean()),
  registry: Type.Optional(Type.String()),
  organization: Type.Optional(Type.String()),
  ipswCatalog: Type.Optional(Type.String()),
  /** The locations beside `home`. */
  locations: Type.Optional(Type.Array(Location)),
  defaultLocationName: Type.Optional(Type.String()),
})
type Decided = Static<typeof Decided>

/** The settings as they hold, whether decided or left as they were. */
export type Settings = Required<Decided>

/** What holds where nothing was decided. */
export type UsualSettings = Pick<Settings, 'homeDirectory' | 'cacheDirectory'>

/** The settings of the host that keeps its files at `places`. */
export const settingsAt = (places: Directories): SettingsFile =>
  new SettingsFile(join(places.config, 'vmhost.json'), {
    homeDirectory: join(places.data, 'vms'),
    cacheDirectory: join(places.cache, 'images'),
  })

/** Milliseconds for which a change waits until other services are done with theirs. */
const patienceMs = 5_000

/** The file. It need not exist; fields in it that this version does not know are kept. */
export class SettingsFile {
  readonly #changes = new Queue()
  readonly #locks = new FileLocks((path) => core().FileLock.take(path) ?? undefined)
  /** What was read last, and of which file. */
  #known: { readonly stamp: string; readonly decided: Decided } | undefined

  constructor(
    readonly path: string,
    readonly usual: UsualSettings,
  ) {}

  /** The settings as they hold now; throws `config_unreadable`. */
  async read(): Promise<Settings> {
    return this.#settings(await this.#decided())
  }

  /**
   * Changes the fields that `change` gives back; changes wait for each other, those of other services among them. Throws
   * `config_not_written` too.
   */
  change(change: (settings: Settings) => Partial<Settings> | Promise<Partial<Settings>>): Promise<void> {
    return this.#changes.run(async () => {
      using _lock = await this.#lock()
      const decided = await this.#decided()
      const changed = await change(this.#settings(decided))
      await this.#write({ ...decided, ...changed })
    })
  }

  async #lock(): Promise<Disposable> {
    try {
      await makeFolder(dirname(this.path))
      const whileHeld = (isLate: boolean) => {
        if (isLate) throw new Error('another service is changing it')
      }
      return await this.#locks.take(`${this.path}.lock`, { patienceMs, whileHeld })
    } catch (error) {
      throw this.#notWritten((error as Error).message)
    }
  }

  #settings(decided: Decided): Settings {
    const { registry, organization, ipswCatalog } = images
    const usual = { registry, organization, ipswCatalog, ...this.usual }
    return { cachingEnabled: true, locations: [], defaultLocationName: 'home', ...usual, ...decided }
  }

  /** Without a wait where the file is that of the last time: every request asks. */
  async #decided(): Promise<Decided> {
    const stamp = stampOf(this.path)
    if (stamp !== undefined && stamp === this.#known?.stamp) return this.#known.decided
    const decided = await this.#read()
    this.#known = stamp === undefined ? undefined : { stamp, decided }
    return decided
  }

  async #read(): Promise<Decided> {
    let text: string | undefined
    try {
      text = await readIfThere(this.path)
    } catch (error) {
      throw this.#unreadable((error as Error).message)
    }
    if (text === undefined) return {}
    let decided: unknown
    try {
      decided = JSON.parse(text)
    } catch (error) {
      throw this.#unreadable((error as Error).message)
    }
    const fault = Value.Errors(Decided, decided).First()
    if (fault !== undefined) throw this.#unreadable(`${fault.path || 'it'}: ${fault.message}`)
    const { locations = [], defaultLocationName = 'home' } = decided as Decided
    const names = ['home', ...locations.map(({ name }) => name)]
    const twice = names.find((name, index) => names.indexOf(name) !== index)
    if (twice !== undefined) throw this.#unreadable(`/locations: there are two locations "${twice}"`)
    if (!names.includes(defaultLocationName)) {
      throw this.#unreadable(`/defaultLocationName: there is no location "${defaultLocationName}"`)
    }
    return decided as Decided
  }

  async #write(decided: Decided): Promise<void> {
    try {
      await replaceFile(this.path, `${JSON.stringify(decided, null, 2)}\n`)
    } catch (error) {
      throw this.#notWritten((error as Error).message)
    }
  }

  #notWritten(why: string): Failure {
    return new Failure(
      'config_not_written',
      `The settings file "${this.path}" cannot be written: ${why.replace(/\.$/, '')}. Make its folder writable.`,
      { path: this.path },
    )
  }

  #unreadable(why: string): Failure {
    return new Failure(
      'config_unreadable',
      `The settings file "${this.path}" cannot be read: ${why}. Mend it, or remove it to start afresh.`,
      { path: this.path },
    )
  }
}

/** Milliseconds for which a file may be written again without another time being noted on it. */
const clockTickMs = 50

/** Tells a file from what it was before; undefined where it was written just now, or cannot be looked at. */
const stampOf = (path: string): string | undefined => {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return 'absent'
    const isSettled = Math.abs(Date.now() - Number(stats.mtimeMs)) > clockTickMs
    return isSettled ? `${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.size}` : undefined
  } catch {
    return undefined
  }
}
