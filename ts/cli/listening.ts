/** Where a server listens and what it asks of its callers, as its command was told. */
import { readFileSync, statSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'

/** Flags that every server takes, for `readFlags`. */
export const listeningFlags = {
  port: { type: 'string' },
  host: { type: 'string' },
  listen: { type: 'string' },
  'token-file': { type: 'string' },
  'key-file': { type: 'string' },
  name: { type: 'string', multiple: true },
} as const

type Values = {
  readonly [Flag in keyof typeof listeningFlags]?: Flag extends 'name' ? string[] : string
}

/** What differs from server to server. */
export interface ServerKind {
  readonly usualPort: number
  /** What its key is called, and before `-file` the flag for it. */
  readonly keyIs: 'token' | 'key'
  /** The environment variable that may hold the key itself. */
  readonly keyVariable: string
}

/** What those flags say; throws `invalid_argument`. The key is undefined where nobody is asked for one. */
export const readListening = (values: Values, kind: ServerKind) => {
  if (values.listen !== undefined) refuseBeside(values)
  return {
    address: readListen(values.listen) ?? values.host ?? '127.0.0.1',
    port: readPort('port', values.port) ?? kind.usualPort,
    key: readKey(values['token-file'] ?? values['key-file'], kind),
    names: values.name ?? [],
  }
}

/** The port that the flag `argument` names; undefined where it was not given. Throws `invalid_argument`. */
export const readPort = (argument: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new Failure('invalid_argument', `--${argument} is "${text}"; it takes a number from 0 to 65535.`, { argument })
}

const readListen = (text: string | undefined): string | undefined => {
  if (text === undefined || /^unix:./.test(text)) return text
  throw new Failure(
    'invalid_argument',
    `--listen is "${text}"; it takes unix:PATH. --host and --port name an address of the network.`,
    { argument: 'listen' },
  )
}

/** A Unix socket has none of what an address of the network has. */
const refuseBeside = (values: Values): void => {
  const argument = (['host', 'port', 'name'] as const).find((flag) => values[flag] !== undefined)
  if (argument === undefined) return
  throw new Failure('invalid_argument', `--listen and --${argument} exclude each other: give one of them.`, {
    argument,
  })
}

const readKey = (file: string | undefined, { keyIs, keyVariable }: ServerKind): string | undefined => {
  if (file === undefined) {
    const key = process.env[keyVariable] || undefined
    if (key === undefined || isWord(key)) return key
    throw new Failure('invalid_argument', `${keyVariable} holds more than one word; put one ${keyIs} in it.`, {
      argument: keyVariable,
    })
  }
  const argument = `${keyIs}-file`
  let key: string
  try {
    key = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Failure('invalid_argument', `--${argument} cannot be read: ${(error as Error).message}.`, { argument })
  }
  const fault = key === '' ? 'is empty' : isWord(key) ? undefined : 'holds more than one word'
  if (fault === undefined) return key
  throw new Failure('invalid_argument', `The ${keyIs} file "${file}" ${fault}; put one ${keyIs} in it.`, { argument })
}

/**
 * Gives the key that a file holds now, `first` until it has changed: for a server whose key is another while it runs. What
 * holds no key leaves the one before.
 */
export const keyInFile = (file: string, first: string, kind: ServerKind): (() => string) => {
  // It may have changed since `first` was read: the first call looks.
  let [state, key] = ['', first]
  return () => {
    const now = stateOf(file)
    if (now === state) return key
    state = now
    try {
      key = readKey(file, kind) ?? key
    } catch {
      // Somebody writes to it, or has removed it.
    }
    return key
  }
}

/** What tells that a file was written or replaced; a pipe cannot be read again. */
const stateOf = (file: string): string => {
  try {
    const found = statSync(file, { bigint: true })
    return found.isFile() ? `${found.ino} ${found.size} ${found.mtimeNs}` : ''
  } catch {
    return ''
  }
}

const isWord = (key: string): boolean => /^[\x21-\x7e]+$/.test(key)

/** Settles when the program is asked to end. */
export const interruption = (): Promise<void> =>
  new Promise((settle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => settle())
  })
