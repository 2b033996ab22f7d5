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

/** Refuses what only a sandbox with namespaces has; throws `unsupported`. */
export const refuseNamespaceOptions = (
  isolation: 'landlock' | 'none',
  wanted: { readonly network: Network; readonly mounts: readonly unknown[]; readonly diskGb: number | null },
): void => {
  const wall =
    wanted.network !== 'internet'
      ? `the network "${wanted.network}"`
      : wanted.mounts.length > 0
        ? 'mounts'
        : wanted.diskGb !== null
          ? 'a disk of a size'
          : null
  if (wall === null) return
  const without = isolation === 'none' ? 'Without isolation' : 'Without namespaces, at the level "landlock",'
  throw new Failure('unsupported', `${without} there is no ${wall.replace(/^the |^a /, '')}; leave it out.`, {
    isolation,
  })
}

/** What its computer server is started from. */
export interface WithoutNamespaces {
  readonly folder: SandboxFolder
  readonly record: SandboxRecord
  readonly executable: {
    readonly command: readonly string[]
    readonly parts: readonly { readonly source: string; readonly path: string }[]
    readonly variables: Readonly<Record<string, string>>
  }
}

/** Where the socket of the computer server is, seen from inside as from outside. */
export const socketWithoutNamespaces = (folder: SandboxFolder): string => `unix:${folder.share}/computer`

/** The words that start its computer server. */
export const serverWords = ({ folder, record, executable }: WithoutNamespaces, port: number): string[] => [
  ...[...commandAtHome(executable), 'computer', '--desktop', '--size', record.size],
  ...['--listen', socketWithoutNamespaces(folder), '--forwarded-port', String(port)],
  ...['--key-file', `${folder.share}/key`, '--until-input-ends'],
]

/** The command line of a server, which says its pid as bwrap says that of the first process in its namespaces. */
export const inGroups = (cgroups: readonly string[], server: readonly string[]): [string, ...string[]] => {
  const say = 'printf \'{"child-pid": %d}\\n\' $$; cd "$HOME"; exec "$@"'
  const join = cgroups.flatMap((file) => ['--cgroup', file])
  return ['/bin/sh', '-c', script, 'backlot-enter', ...join, '--', '/bin/sh', '-c', say, 'backlot-say', ...server]
}

/** Its variables, in the place of those of a sandbox that sees the executable elsewhere. */
export const unisolatedVariables = ({ folder, executable }: WithoutNamespaces): Record<string, string> => {
  // Not in the sandbox's folder: the accessibility bus goes to `/tmp` where the path of its socket is long.
  const runtime = process.env.XDG_RUNTIME_DIR ?? placesOf(process.env).runtime
  mkdirSync(runtime, { recursive: true, mode: 0o700 })
  return { HOME: folder.at('files', 'home'), XDG_RUNTIME_DIR: runtime, ...variablesAtHome(executable) }
}

type Parts = WithoutNamespaces['executable']

/** The executable, and the variables that it needs, by the paths of this machine. */
export const commandAtHome = (executable: Parts): string[] => executable.command.map((word) => atHome(executable, word))
export const variablesAtHome = (executable: Parts): Record<string, string> =>
  Object.fromEntries(Object.entries(executable.variables).map(([name, value]) => [name, atHome(executable, value)]))

/** The path of a part of the executable on this machine, or the word itself. */
const atHome = ({ parts }: Parts, word: string): string => parts.find(({ path }) => path === word)?.source ?? word
