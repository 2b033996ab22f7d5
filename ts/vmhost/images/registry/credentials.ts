/** What docker knows of registries: its `config.json` and its credential helpers. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import { homeOf } from '@backlot/contract/places'

/** A user with a password, or an identity token. */
export type Credentials = { readonly user: string; readonly password: string } | { readonly identityToken: string }

interface DockerConfig {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>
  readonly credHelpers?: Readonly<Record<string, string>>
  readonly credsStore?: string
}

/** Milliseconds that a helper may take. */
const helperMs = 30_000

/** Those for a registry, read afresh at each call; undefined where docker knows none. Throws `registry_refused`. */
export const credentialsFor = async (registry: string): Promise<Credentials | undefined> => {
  const folder = process.env[environment.dockerConfig] || join(homeOf(process.env), '.docker')
  const path = join(folder, 'config.json')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  let config: DockerConfig
  try {
    config = JSON.parse(text) as DockerConfig
  } catch (error) {
    throw refused(registry, `"${path}" cannot be read: ${(error as Error).message}`)
  }
  const names = [registry, `https://${registry}`, `https://${registry}/v1/`, `https://${registry}/v2/`]
  const helper = config.credHelpers?.[registry] ?? config.credsStore
  const helped = helper === undefined ? undefined : await askHelper(helper, registry)
  if (helped !== undefined) return helped
  const entry = names.map((name) => config.auths?.[name]).find((each) => each !== undefined)
  if (entry?.identitytoken) return { identityToken: entry.identitytoken }
  if (entry?.auth === undefined) return undefined
  const [user = '', ...password] = Buffer.from(entry.auth, 'base64').toString('utf8').split(':')
  return { user, password: password.join(':') }
}

/** Asks `docker-credential-NAME`; undefined where it has nothing for the registry. */
const askHelper = async (name: string, registry: string): Promise<Credentials | undefined> => {
  const program = /^[\w.-]+$/.test(name) ? Bun.which(`docker-credential-${name}`) : null
  if (program === null) throw refused(registry, `docker's helper "docker-credential-${name}" is not installed`)
  const child = Bun.spawn([program, 'get'], {
    stdin: new TextEncoder().encode(registry),
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: helperMs,
    killSignal: 'SIGKILL',
  })
  const [text, status] = await Promise.all([new Response(child.stdout).text(), child.exited])
  if (status !== 0) return undefined
  const { Username: user = '', Secret: secret = '' } = JSON.parse(text) as { Username?: string; Secret?: string }
  return user === '<token>' ? { identityToken: secret } : { user, password: secret }
}

const refused = (registry: string, why: string): Failure =>
  new Failure('registry_refused', `Nothing is known to give the registry "${registry}": ${why}. Mend that first.`, {
    registry,
  })
