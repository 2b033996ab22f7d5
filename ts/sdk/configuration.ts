/** What calls of this program use where they say nothing. */
import { invalidArgument } from './errors.ts'
import { chosenRuntime } from './runtimes/known.ts'
import type { RuntimeChoice } from './sandbox/where.ts'

/** What `configure` sets. */
export interface Configuration {
  /** The key of the cloud. @default the one that `login` stored, then `BACKLOT_API_KEY` */
  apiKey?: string
  /** Address of the cloud API. @default `BACKLOT_BASE_URL`, then the one that `login` stored a key for */
  baseUrl?: string
  /** What starts sandboxes. @default the cloud if there is a key, else this machine */
  runtime?: RuntimeChoice
}

let current: Configuration = {}

/** Sets what calls of this program use where they say nothing; what is not named stays, and `undefined` takes it back. */
export const configure = (options: { [Key in keyof Configuration]: Configuration[Key] | undefined }): void => {
  const known = ['apiKey', 'baseUrl', 'runtime']
  for (const name of Object.keys(options).filter((each) => !known.includes(each))) {
    throw invalidArgument(name, `"configure" has no "${name}"; it takes ${known.join(', ')}.`)
  }
  if (options.baseUrl !== undefined) checkBaseUrl(options.baseUrl)
  if (options.apiKey !== undefined) checkKey(options.apiKey)
  if (options.runtime !== undefined && options.runtime !== 'cloud') chosenRuntime(options.runtime)
  current = Object.fromEntries(
    Object.entries({ ...current, ...options }).filter(([, value]) => value !== undefined),
  ) as Configuration
}

/** What is set. */
export const configured = (): Configuration => current

/** An address of a cloud, without a slash at its end; throws `invalid_argument`. */
export const checkBaseUrl = (baseUrl: string): string => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  const isPlain =
    url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  // What is wrong with it may be that it holds a key.
  throw invalidArgument(
    'baseUrl',
    '"baseUrl" is no address of a cloud; give one such as https://cloud.example, without name, password and query.',
  )
}

/** A key that can stand in a header; throws `invalid_argument` without repeating it. */
export const checkKey = (apiKey: string): string => {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  throw invalidArgument(
    'apiKey',
    '"apiKey" is empty or holds spaces or characters that no key has; give the key as it was issued.',
  )
}
