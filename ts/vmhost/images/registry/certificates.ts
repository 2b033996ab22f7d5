/** What docker keeps of registries beside their passwords: whose signature is trusted, and who this machine is to them. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { Failure } from '@backlot/contract/failure'

/** For a connection to one registry; empty where docker keeps nothing for it. */
export interface Certificates {
  /** Those trusted beside the usual ones, and the usual ones. */
  readonly ca?: string[]
  /** A certificate of this machine, and its key. */
  readonly cert?: string
  readonly key?: string
}

/** Folders with one for each `HOST[:PORT]`: that of a docker without root first. */
const folders = (): string[] => {
  const { XDG_CONFIG_HOME, HOME } = process.env
  const config = XDG_CONFIG_HOME || (HOME && join(HOME, '.config'))
  return [...(config ? [join(config, 'docker/certs.d')] : []), '/etc/docker/certs.d']
}

/**
 * Reads `HOST/NAME.crt`, an authority's, and `HOST/NAME.cert` with `HOST/NAME.key`, this machine's, afresh at each call. Throws
 * `registry_refused` where one of them cannot be read.
 */
export const certificatesFor = async (host: string): Promise<Certificates> => {
  for (const folder of folders().map((each) => join(each, host))) {
    const names = (await readdir(folder).catch(() => [])).sort()
    const read = (name: string) => readFile(join(folder, name), 'utf8').catch(unreadable(host))
    const authorities = await Promise.all(names.filter((name) => name.endsWith('.crt')).map(read))
    const own = names.find((name) => name.endsWith('.cert'))
    if (authorities.length === 0 && own === undefined) continue
    return {
      ...(authorities.length > 0 && { ca: [...getCACertificates('default'), ...authorities] }),
      ...(own !== undefined && { cert: await read(own), key: await read(own.replace(/cert$/, 'key')) }),
    }
  }
  return {}
}

const unreadable = (registry: string) => (error: Error) => {
  const why = `What docker keeps for the registry "${registry}" cannot be read: ${error.message}. Mend that first.`
  throw new Failure('registry_refused', why, { registry })
}
