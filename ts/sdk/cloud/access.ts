/** Which cloud, and with which key. */
import { environment } from '@backlot/contract/limits'
import { checkBaseUrl, checkKey, configured } from '../configuration.ts'
import { AuthenticationError, UnavailableError } from '../errors.ts'
import { isNode } from '../node.ts'
import { readCredentials } from './credentials.ts'

/** A cloud and a key for it. */
export interface CloudAccess {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly apiKey: string
}

/** What a caller names. */
export interface NamedAccess {
  readonly apiKey?: string | undefined
  readonly baseUrl?: string | undefined
}

const variable = (name: string): string | undefined => globalThis.process?.env?.[name] || undefined

const stored = async () => (isNode() ? readCredentials() : undefined)

const addressSaid = async (): Promise<string | undefined> =>
  configured().baseUrl ?? variable(environment.cloudUrl) ?? (await stored())?.base_url

/** Whether `configure`, the environment or a `login` has said where the cloud is. */
export const isCloudNamed = async (): Promise<boolean> => (await addressSaid()) !== undefined

/** The address of the cloud: the caller's, of `configure`, of the environment, of the last `login`; throws `cloud_not_configured`. */
export const cloudAddress = async (named: NamedAccess = {}): Promise<string> => {
  const baseUrl = named.baseUrl ?? (await addressSaid())
  if (baseUrl !== undefined) return checkBaseUrl(baseUrl)
  throw new UnavailableError(
    'cloud_not_configured',
    `No cloud is configured: Backlot has none of its own. Name one with \`configure({ baseUrl })\` or ${environment.cloudUrl}, ` +
      'or start sandboxes on this machine with `{ local: true }`.',
  )
}

/** Whether there is a key: then the cloud is where sandboxes are, unless the caller says otherwise. */
export const hasKey = async (): Promise<boolean> => {
  if (configured().apiKey !== undefined || variable(environment.cloudKey) !== undefined) return true
  const credentials = await stored()
  if (credentials === undefined) return false
  return credentials.keys[await cloudAddress()] !== undefined
}

/** The cloud with the caller's key, that of `configure`, of `login`, of the environment; throws `cloud_not_configured`, `no_api_key`. */
export const cloudAccess = async (named: NamedAccess = {}): Promise<CloudAccess> => {
  const baseUrl = await cloudAddress(named)
  const apiKey =
    named.apiKey ?? configured().apiKey ?? (await stored())?.keys[baseUrl] ?? variable(environment.cloudKey)
  if (apiKey !== undefined) return { baseUrl, apiKey: checkKey(apiKey) }
  throw new AuthenticationError(
    'no_api_key',
    `There is no key for the cloud at "${baseUrl}". Sign in with \`login()\`, or set ${environment.cloudKey}.`,
    { data: { baseUrl } },
  )
}
