/** The driver's configuration: one JSON file that every call reads again, so that all processes agree. */

import { statSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { evidence, observation } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import { Queue } from '@backlot/contract/queue'
import type { FileLock } from '@backlot/native'
import { writeWhole } from '@backlot/native/durable'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { tryLock } from '../lock.ts'

/** Milliseconds that others may take to write, and between two looks whether they have. */
const [lockTimeoutMs, pollIntervalMs] = [5_000, 2]

/** How get_window_state looks at a window. */
export const captureModes = ['som', 'vision', 'ax'] as const

/** Every key with its type and default. */
export const configSchema = Type.Object({
  capture_mode: choice(captureModes, { default: 'som', more: 'Default of get_window_state.' }),
  check_for_update: Type.Boolean({
    default: true,
    more: 'Whether the package registry may be asked.',
    extension: true,
  }),
  evidence_timeout_ms: Type.Integer({
    default: evidence.ceilingMs,
    minimum: 0,
    maximum: 10_000,
    description: 'How long actions look for their effect.',
    extension: true,
  }),
  element_tags: choice(['long', 'short'], {
    default: 'long',
    description: '[element_index N] or [N] in trees.',
    extension: true,
  }),
  experimental_pip: Type.Boolean({
    default: false,
    description: 'Live preview of the window acted on.',
    more: 'From the next daemon on.',
  }),
  experimental_pip_geometry: Type.String({
    default: '',
    pattern: '^$|^[1-9]\\d{0,4}x[1-9]\\d{0,4}([+-]\\d{1,5}[+-]\\d{1,5})?$',
    description: 'WxH or WxH+X+Y.',
  }),
  extensions: Type.Boolean({ default: true, description: 'Offer tools and arguments beyond the specification.' }),
  max_image_dimension: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 32_767,
    description: 'Longest side of screenshots; 0: no limit.',
  }),
  observe_timeout_ms: Type.Integer({
    default: observation.ceilingMs,
    minimum: 0,
    maximum: 10_000,
    description: 'How long observe waits for a window to settle.',
    extension: true,
  }),
  stop_key: Type.String({
    default: '',
    maxLength: 100,
    description: 'Pauses all actions, as ctrl+alt+escape; empty: none.',
  }),
})

/** The configuration with every key present. */
export type Config = Static<typeof configSchema>

/** Where the configuration stands in an environment. */
export const configFileAt = (env: Readonly<Record<string, string | undefined>>): string =>
  `${placesOf(env).config}/driver.json`

/** The configuration file; a key it does not name has its default, a key it alone knows is kept. */
export class ConfigFile {
  readonly #changes = new Queue()
  #known: { readonly version: string | undefined; readonly config: Config } | undefined

  constructor(readonly path: string) {}

  /** Throws `config_unreadable` when the file cannot be read or holds something else than a configuration. */
  async read(): Promise<Config> {
    const version = this.#version()
    if (this.#known === undefined || version !== this.#known.version) {
      const config = Object.freeze(Value.Default(configSchema, pick(await this.#stored())) as Config)
      this.#known = { version, config }
    }
    return this.#known.config
  }

  /** What changes with the file, which every writer replaces; `undefined` where there is none, or none to be seen. */
  #version(): string | undefined {
    try {
      const stats = statSync(this.path, { throwIfNoEntry: false, bigint: true })
      return stats && `${stats.ino} ${stats.mtimeNs} ${stats.size}`
    } catch {
      // Reading it says what is wrong.
      return undefined
    }
  }

  /** Changes some keys; throws `config_unreadable` or `config_not_written`, and then nothing has changed. */
  async write(changes: Partial<Config>): Promise<Config> {
    return this.#alone(async () => {
      const stored = { ...(await this.#stored()), ...changes }
      await this.#replace(`${JSON.stringify(stored, null, 2)}\n`)
      return this.read()
    })
  }

  /** Gives every key its default again, whatever the file holds. */
  async reset(): Promise<void> {
    await this.#alone(() =>
      rm(this.path, { force: true }).catch((error) => {
        throw this.#notWritten(error)
      }),
    )
  }

  /** Reads and writes while no other process does, so that no change is lost; this process's own come in order. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      const lock = await this.#lock()
      try {
        return await change()
      } finally {
        lock.release()
      }
    })
  }

  async #lock(): Promise<FileLock> {
    const deadline = performance.now() + lockTimeoutMs
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 }).catch((error) => {
      throw this.#notWritten(error)
    })
    for (;;) {
      const lock = await tryLock(this.path).catch((error: unknown) => {
        throw error instanceof Failure ? error : this.#notWritten(error)
      })
      if (lock !== undefined) return lock
      if (performance.now() > deadline) throw this.#notWritten(`another process has held it for ${lockTimeoutMs} ms`)
      await Bun.sleep(pollIntervalMs)
    }
  }

  async #stored(): Promise<Record<string, unknown>> {
    const text = await readFile(this.path, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return '{}'
      throw this.#unreadable(`cannot be read: ${error.message}`)
    })
    const stored = parse(text)
    if (stored === undefined) throw this.#unreadable('holds no JSON object')
    for (const [name, schema] of Object.entries(configSchema.properties)) {
      if (Object.hasOwn(stored, name) && !Value.Check(schema, stored[name])) {
        throw this.#unreadable(`holds ${JSON.stringify(stored[name])} for "${name}"`)
      }
    }
    return stored
  }

  async #replace(text: string): Promise<void> {
    await writeWhole(this.path, text).catch((error) => {
      throw this.#notWritten(error)
    })
  }

  #unreadable(what: string): Failure {
    return new Failure(
      'config_unreadable',
      `The configuration file "${this.path}" ${what}. Mend it, or run "backlot-driver config reset".`,
      { path: this.path },
    )
  }

  #notWritten(error: unknown): Failure {
    const reason = error instanceof Error ? error.message : String(error)
    return new Failure(
      'config_not_written',
      `The configuration file "${this.path}" cannot be written: ${reason}. Make its folder writable.`,
      { path: this.path },
    )
  }
}

const pick = (stored: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(configSchema.properties).flatMap((name) => (name in stored ? [[name, stored[name]]] : [])),
  )

const parse = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
