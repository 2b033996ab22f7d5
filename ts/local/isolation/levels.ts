/** Which levels of isolation work here for this user: each is found out by trying it. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import { findIds, idsMissing } from '../own-root/ids.ts'
import { recipeOf } from '../own-root/recipe.ts'
import { hasRoot } from '../own-root/roots.ts'
import { type Trial, tryCommand, tryRoot } from '../own-root/trial.ts'
import { findProgram, installing } from '../programs.ts'
import { sandboxesFolder } from '../state/folder.ts'
import { bwrapCommand, isRoot } from './entering.ts'
import { hostPrograms } from './host-programs.ts'
import { landlockLevel } from './landlock.ts'
import type { IsolationLevel, LevelName } from './level.ts'

/** A user that no sandbox has, for the trial. */
const trialUser = 0x70000000

/** Folders that every Linux has (FHS 3.0) and that the trial's programs do not need. */
const anyFolder = ['/srv', '/media', '/opt']

const tried = (): Promise<Trial> => {
  // What is mounted over a folder is seen by the trial alone, and nothing is left of one that is killed.
  const stage = anyFolder.find((path) => existsSync(path)) ?? homedir()
  const words = bwrapCommand({
    stage,
    user: trialUser,
    cgroups: [],
    disk: null,
    ownRoot: null,
    shown: [{ source: stage, path: '/stage', isWritable: false }],
    before: hostPrograms(),
    after: [],
    command: ['true'],
  })
  return tryCommand(words)
}

const hostProgramsLevel = async (): Promise<Omit<IsolationLevel, 'level'>> => {
  const missing = (['bwrap', ...(isRoot() ? (['unshare', 'setpriv', 'mount'] as const) : [])] as const).find(
    (name) => findProgram(name) === null,
  )
  if (missing !== undefined) {
    return { works: false, reason: `The program "${missing}" is not installed.`, remedy: installing(missing) }
  }
  const { status, errors } = await tried()
  if (status === 0) {
    return {
      works: true,
      reason: 'Programs of this machine can be read in namespaces of their own, and no other file of it.',
      remedy: null,
    }
  }
  return { works: false, ...refusalOf(errors === '' ? `It ended with status ${status}.` : errors) }
}

/** What a refusal means, by what the programs say of it. */
const refusals: readonly { readonly pattern: RegExp; readonly why: string; readonly remedy: string }[] = [
  {
    pattern: /setting up uid map: Permission denied|loopback: Failed RTM_NEWADDR/,
    why: 'AppArmor keeps ordinary users from namespaces',
    remedy:
      'as root, once: write `abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }` to /etc/apparmor.d/bwrap and run apparmor_parser -r /etc/apparmor.d/bwrap',
  },
  {
    pattern:
      /No permissions to creat\w* new namespace|Creating new namespace failed|unshare failed: Operation not permitted/,
    why: 'the kernel, or the container that this runs in, refuses namespaces',
    remedy:
      'on a machine of its own: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000; in a container: start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined',
  },
  {
    pattern: /Can't mount proc on/,
    why: 'the container that this runs in hides parts of /proc, so that none can be mounted',
    remedy: 'start the container with --security-opt systempaths=unconfined',
  },
]

/** The reason and the remedy behind what the programs say. */
export const refusalOf = (errors: string): Pick<IsolationLevel, 'reason' | 'remedy'> => {
  const known = refusals.find(({ pattern }) => pattern.test(errors))
  const said = errors.split('\n').at(-1) ?? errors
  return known === undefined
    ? { reason: said, remedy: null }
    : { reason: `${said} (${known.why})`, remedy: known.remedy }
}

/** Whether a root of its own can be entered, where one is built. */
const ownRootLevel = async (base: string): Promise<Omit<IsolationLevel, 'level'>> => {
  const forUsers = isRoot() ? [] : (['newuidmap', 'newgidmap'] as const)
  const missing = [...(['bwrap', 'unshare', 'nsenter', 'setpriv', 'mount'] as const), ...forUsers].find(
    (name) => findProgram(name) === null,
  )
  if (missing !== undefined) {
    return { works: false, reason: `The program "${missing}" is not installed.`, remedy: installing(missing) }
  }
  if (findIds() === null) return { works: false, ...idsMissing() }
  const { version } = recipeOf()
  if (!hasRoot(base, version)) {
    const remedy = `${findProgram('mmdebstrap') === null ? `${installing('mmdebstrap')} && ` : ''}backlot local build`
    return { works: false, reason: `The root ${version} is not built.`, remedy }
  }
  const { status, errors } = await tryRoot(base, version)
  if (status !== 0) return { works: false, ...refusalOf(errors === '' ? `It ended with status ${status}.` : errors) }
  return { works: true, reason: `Files of the built root ${version}, and none of this machine.`, remedy: null }
}

const trials: Readonly<Record<LevelName, (base: string) => Promise<Omit<IsolationLevel, 'level'>>>> = {
  'own-root': ownRootLevel,
  'host-programs': hostProgramsLevel,
  landlock: landlockLevel,
  none: async () => ({
    works: true,
    reason:
      'Only for who asks for it, by --unsafe-no-isolation: a private desktop whose programs have all rights of this user.',
    remedy: null,
  }),
}

/** Tries every level, strongest first. */
export const findLevels = (base = sandboxesFolder()): Promise<IsolationLevel[]> =>
  Promise.all(
    Object.entries(trials).map(async ([level, trial]) => ({ level: level as LevelName, ...(await trial(base)) })),
  )

/** Refuses a level that does not work here, with what helps; throws `runtime_unavailable`. */
export const refuseUnavailable = async (base: string, isolation: LevelName): Promise<void> => {
  const levels = await findLevels(base)
  const level = levels.find(({ level }) => level === isolation)
  if (level === undefined || level.works) return
  const { reason, remedy } = level
  const helps = remedy === null ? '`backlot local levels` tells more.' : `What helps: ${remedy}.`
  const isWeaker = isolation !== 'landlock' && levels.some((each) => each.level === 'landlock' && each.works)
  const weaker = isWeaker ? ' A weaker one is had by --isolation landlock.' : ''
  throw new Failure(
    'runtime_unavailable',
    `No sandbox can be started here: ${reason} ${helps}${weaker} A desktop without any isolation is had by --unsafe-no-isolation.`,
    { reason, remedy },
  )
}
