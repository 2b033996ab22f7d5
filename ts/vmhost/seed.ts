/** What cloud-init reads in a guest: a small disk labelled CIDATA (NoCloud), which QEMU makes of a folder. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, writeSynced } from './durable.ts'
import { together } from './together.ts'
import { seedFolder } from './vm-directory.ts'

/** What a guest is told about itself. */
export interface Seed {
  readonly instanceId: string
  readonly hostName: string
  /** A cloud-config, a script or whatever else cloud-init takes; none where undefined. */
  readonly userData?: string | undefined
}

/** Writes the seed into the folder of a VM that has none. */
export const writeSeed = async (folder: string, { instanceId, hostName, userData }: Seed): Promise<void> => {
  const seed = join(folder, seedFolder)
  await mkdir(seed, { mode: 0o700 })
  const about = `instance-id: ${instanceId}\nlocal-hostname: ${hostNameOf(hostName)}\n`
  await together([
    writeSynced(join(seed, 'meta-data'), about),
    writeSynced(join(seed, 'user-data'), userData ?? '#cloud-config\n{}\n'),
  ])
  await syncFolder(seed)
}

/** The user data of a VM; undefined where it has no seed. */
export const readUserData = (folder: string): Promise<string | undefined> =>
  readFile(join(folder, seedFolder, 'user-data'), 'utf8').catch(() => undefined)

/** A VM's name as a host may be called (RFC 1123): no dots and underscores, 63 letters at most. */
const hostNameOf = (name: string): string => name.replace(/[._]+/g, '-').slice(0, 63).replace(/-+$/, '')
