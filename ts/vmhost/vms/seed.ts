/** What cloud-init reads in a guest: a small disk labelled CIDATA (NoCloud), which QEMU makes of a folder. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { settleAll } from '@backlot/contract/work/settle-all'
import { syncFolder, writeSynced } from '../files/durable.ts'
import { seedFolder } from './vm-directory.ts'

/** What a guest is told about itself. */
export interface CloudInitSeed {
  readonly instanceId: string
  readonly hostName: string
  /** A cloud-config, a script or whatever else cloud-init takes; none where undefined. */
  readonly userData?: string | undefined
}

/** User data that asks for nothing. */
const noUserData = '#cloud-config\n{}\n'

const metaData = ({ instanceId, hostName }: CloudInitSeed): string =>
  `instance-id: ${instanceId}\nlocal-hostname: ${hostNameOf(hostName)}\n`

/** Writes the seed into the folder of a VM that has none. */
export const writeSeed = async (folder: string, about: CloudInitSeed): Promise<void> => {
  const seed = join(folder, seedFolder)
  await mkdir(seed, { mode: 0o700 })
  await settleAll([
    writeSynced(join(seed, 'meta-data'), metaData(about)),
    writeSynced(join(seed, 'user-data'), about.userData ?? noUserData),
  ])
  await syncFolder(seed)
}

/**
 * What the kernel's command line says to a guest of ours in the place of a seed that holds no more, so that it need not
 * look for that; undefined where there is none, or one that asks for something or that somebody has changed.
 */
export const wordsForSeed = async (
  folder: string,
  about: Omit<CloudInitSeed, 'userData'>,
): Promise<string | undefined> => {
  const text = (file: string) => readFile(join(folder, seedFolder, file), 'utf8').catch(() => undefined)
  const [meta, user] = await Promise.all([text('meta-data'), text('user-data')])
  if (meta !== metaData(about) || user !== noUserData) return undefined
  return `backlot.instance=${about.instanceId} backlot.hostname=${hostNameOf(about.hostName)}`
}

/** The user data of a VM; undefined where it has no seed. */
export const readUserData = (folder: string): Promise<string | undefined> =>
  readFile(join(folder, seedFolder, 'user-data'), 'utf8').catch(() => undefined)

/** A VM's name as a host may be called (RFC 1123): no dots and underscores, 63 letters at most. */
export const hostNameOf = (name: string): string =>
  name
    .replace(/[._]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
