/** The level `none`: a private desktop whose programs have all rights of the user who starts it, for who asks for that. */
import { mkdirSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import script from '../enter.sh' with { type: 'text' }
import type { SandboxFolder } from '../state/folder.ts'
import type { Network, SandboxRecord } from '../state/record.ts'

/** What is said of it wherever it is told. */
export const unisolatedWarning =
  'Nothing parts it from this machine: its programs have all rights of this user, and reach all that this user reaches.'

/** Refuses what only a sandbox with walls has; throws `unsupported`. */
export const refuseWalls = (wanted: {
  readonly network: Network
  readonly mounts: readonly unknown[]
  readonly diskGb: number | null
}): void => {
  const wall =
    wanted.network !== 'internet'
      ? `the network "${wanted.network}"`
      : wanted.mounts.length > 0
        ? 'mounts'
        : wanted.diskGb !== null
          ? 'a disk of a size'
          : null
  if (wall === null) return
  throw new Failure('unsupported', `Without isolation there is no ${wall.replace(/^the |^a /, '')}; leave it out.`, {
    isolation: 'none',
  })
}

/** What its computer server is started from. */
interface Unisolated {
  readonly folder: SandboxFolder
  readonly record: SandboxRecord
  readonly executable: {
    readonly command: readonly string[]
    readonly parts: readonly { readonly source: string; readonly path: string }[]
    readonly variables: Readonly<Record<string, string>>
  }
}

/** Where the socket of its computer server is. */
export const unisolatedSocket = (folder: SandboxFolder): string => `unix:${folder.share}/computer`

/** The command line, which says the pid of the server as bwrap says that of the first process in its namespaces. */
export const unisolatedWords = (
  { folder, record, executable }: Unisolated,
  cgroups: readonly string[],
  port: number,
): [string, ...string[]] => {
  const server = [
    ...[...executable.command.map((word) => atHome(executable, word)), 'computer', '--desktop', '--size', record.size],
    ...['--listen', unisolatedSocket(folder), '--forwarded-port', String(port)],
    ...['--key-file', `${folder.share}/key`, '--until-input-ends'],
  ]
  const say = 'printf \'{"child-pid": %d}\\n\' $$; cd "$HOME"; exec "$@"'
  const join = cgroups.flatMap((file) => ['--cgroup', file])
  return ['/bin/sh', '-c', script, 'backlot-enter', ...join, '--', '/bin/sh', '-c', say, 'backlot-say', ...server]
}

/** Its variables, in the place of those of a sandbox that sees the executable elsewhere. */
export const unisolatedVariables = ({ folder, executable }: Unisolated): Record<string, string> => {
  // Not in the sandbox's folder: the accessibility bus goes to `/tmp` where the path of its socket is long.
  const runtime = process.env.XDG_RUNTIME_DIR ?? placesOf(process.env).runtime
  mkdirSync(runtime, { recursive: true, mode: 0o700 })
  const own = Object.entries(executable.variables).map(([name, value]) => [name, atHome(executable, value)])
  return { HOME: folder.at('files', 'home'), XDG_RUNTIME_DIR: runtime, ...Object.fromEntries(own) }
}

/** The path of a part of the executable on this machine, or the word itself. */
const atHome = ({ parts }: Unisolated['executable'], word: string): string =>
  parts.find(({ path }) => path === word)?.source ?? word
