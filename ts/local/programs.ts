/** The programs that sandboxes are made with, and the Debian packages they come in. */

import { Failure } from '@backlot/contract/failure'
import type { Variables } from '@backlot/contract/places'

const packages = {
  bwrap: 'bubblewrap',
  slirp4netns: 'slirp4netns',
  ip: 'iproute2',
  nsenter: 'util-linux',
  unshare: 'util-linux',
  newuidmap: 'uidmap',
  newgidmap: 'uidmap',
  setpriv: 'util-linux',
  mount: 'mount',
  mke2fs: 'e2fsprogs',
  mmdebstrap: 'mmdebstrap',
} as const

/** A program that sandboxes are made with. */
export type ProgramName = keyof typeof packages

/** Administrators' programs are not on everybody's PATH. */
const pathOf = (env: Variables): string => `${env.PATH ?? '/usr/local/bin:/usr/bin:/bin'}:/usr/sbin:/sbin`

/** The absolute path of a program, or null where it is not installed. */
export const findProgram = (name: ProgramName, env = process.env): string | null =>
  Bun.which(name, { PATH: pathOf(env) })

/** The command that installs a program on Debian and Ubuntu. */
export const installing = (name: ProgramName): string => `apt-get install ${packages[name]}`

/** The absolute path of a program; throws `missing_program` where it is not installed. */
export const program = (name: ProgramName, whatFor: string): string => {
  const path = findProgram(name)
  if (path !== null) return path
  throw new Failure(
    'missing_program',
    `${whatFor} needs "${name}", not installed here; on Debian and Ubuntu run: ${installing(name)}`,
    { programs: [name], packages: [packages[name]] },
  )
}
