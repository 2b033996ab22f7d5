/** Sandboxes of the runtime `local` for a test, with a throw-away home, as root and as a user without rights. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { backlotCommand } from './backlot.ts'
import { type Fields, frameOf, post } from './computer.ts'
import { plainEnvironment } from './desktop.ts'

/** Who starts sandboxes: this user, or where that is root also one without rights, whom no system knows. */
export const callers = process.getuid?.() === 0 ? (['root', 'user'] as const) : (['user'] as const)
export type Caller = (typeof callers)[number]

/** An ordinary user whom the system gives 65,536 ids, as `adduser` does; only root can make one. */
export type CallerWithIds = Caller | 'user-with-ids'

/** Who meets a system that refuses namespaces, as a default container does to its root and to others; only root can make one. */
export const callersWithoutNamespaces =
  process.getuid?.() === 0 ? (['root-without-namespaces', 'user-without-namespaces'] as const) : ([] as const)
export type CallerWithoutNamespaces = 'root-without-namespaces' | 'user-without-namespaces'

const otherUser = 54_321

/** The user of this machine that the root without namespaces is: no test has sockets as it. */
const containerRoot = 54_322

/** Words before a command that then runs in a user namespace in which no other may be made, without its rights. */
const withoutNamespaces = (map: '--map-root-user' | '--map-current-user'): string[] => [
  ...['unshare', '--user', map, '--keep-caps', 'sh', '-c'],
  'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"',
  'sh',
]

/** The first of the ids of the host that `user-with-ids` has beside its own. */
export const firstSubordinateId = 700_000_000

/** Words before a command that is `user-with-ids` then: in a mount namespace whose /etc knows it, with a network device for all. */
const withIds = (folder: string, ids: string): string[] => {
  const etc = mkdtempSync(join(tmpdir(), 'local-etc-'))
  chmodSync(etc, 0o755)
  const [passwd, group] = ['passwd', 'group'].map((name) => readFileSync(`/etc/${name}`, 'utf8'))
  writeFileSync(join(etc, 'passwd'), `${passwd}tester:x:${otherUser}:${otherUser}::${folder}:/bin/sh\n`)
  writeFileSync(join(etc, 'group'), `${group}tester:x:${otherUser}:\n`)
  writeFileSync(join(etc, 'subids'), ids)
  const script = `path=$PATH; export PATH=/usr/sbin:/usr/bin:/sbin:/bin; cd "$0" && mount --bind passwd /etc/passwd && mount --bind group /etc/group &&
    mount --bind subids /etc/subuid && mount --bind subids /etc/subgid &&
    if [ -e /dev/net/tun ]; then [ -c node ] || { mknod node.$$ c 10 200; chmod 666 node.$$; mv node.$$ node; }; mount --bind node /dev/net/tun; fi &&
    cd / && PATH=$path && exec ${Bun.which('setpriv')} --reuid=${otherUser} --regid=${otherUser} --clear-groups -- "$@"`
  return [Bun.which('unshare') ?? 'unshare', '--mount', '--', '/bin/sh', '-c', script, etc]
}

/** What a sandbox is told by, as `start` prints it. */
export type Info = Fields & { readonly name: string; readonly api_url: string; readonly api_key: string }

/** A call that has ended. */
export interface Called {
  readonly status: number
  readonly errors: string
  /** What it printed as JSON; null where it printed nothing. */
  readonly output: Fields | null
}

/** A home with sandboxes; disposing of it deletes them all. */
export interface TestHome extends AsyncDisposable {
  readonly folder: string
  /** Where the folders of the sandboxes stand. */
  readonly sandboxes: string
  /** The words before a command that this caller runs. */
  readonly as: readonly string[]
  /** The whole command line of `backlot local WORDS` as this caller. */
  command(...words: string[]): [string, ...string[]]
  environment: Record<string, string>
  /** Runs `backlot local --json WORDS` to its end. */
  run(...words: string[]): Promise<Called>
  /** Runs what has to succeed. */
  ask(...words: string[]): Promise<Fields>
  /** Starts a sandbox that stays. */
  start(...words: string[]): Promise<Info>
  /** Starts one that ends with its program. */
  ephemeral(...words: string[]): Promise<EphemeralSandbox>
}

/** An ephemeral sandbox and the program that it belongs to. */
export interface EphemeralSandbox {
  readonly info: Info
  readonly owner: Bun.Subprocess<'pipe', 'pipe', 'pipe'>
}

/** Makes a home for sandboxes of this caller, to whom /etc/subuid and /etc/subgid give `ids` where it is `user-with-ids`. */
export const homeOf = (
  caller: CallerWithIds | CallerWithoutNamespaces,
  ids = `tester:${firstSubordinateId}:65536\n`,
): TestHome => {
  const folder = mkdtempSync(join(tmpdir(), 'local-'))
  const user = caller === 'root-without-namespaces' ? containerRoot : otherUser
  const isOther = caller !== 'root' && process.getuid?.() === 0
  if (isOther) chownSync(folder, user, user)
  const setpriv = Bun.which('setpriv') ?? 'setpriv'
  const hasName = caller === 'user-with-ids' || caller === 'user-without-namespaces'
  const mapped = hasName ? withIds(folder, ids) : null
  const as = [
    ...(mapped ?? (isOther ? [setpriv, `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--'] : [])),
    ...(caller === 'root-without-namespaces' ? withoutNamespaces('--map-root-user') : []),
    ...(caller === 'user-without-namespaces' ? withoutNamespaces('--map-current-user') : []),
  ]
  const { DISPLAY: _, ...plain } = plainEnvironment()
  // What Bun keeps there for user 0 is not this one's, who would unpack the native core each time and leave it when killed.
  const unpacked = caller === 'root-without-namespaces' ? folder : tmpdir()
  const environment = { ...plain, BACKLOT_HOME: folder, HOME: folder, BUN_TMPDIR: unpacked } as Record<string, string>
  const command = (...words: string[]) => [...as, ...backlotCommand('local', ...words)] as [string, ...string[]]
  const run = async (...words: string[]): Promise<Called> => {
    const child = Bun.spawn(command('--json', ...words), {
      env: environment,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [text, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { status, errors, output: text === '' ? null : (JSON.parse(text) as Fields) }
  }
  const ask = async (...words: string[]): Promise<Fields> => {
    const { status, errors, output } = await run(...words)
    if (status !== 0 || output === null) throw new Error(`backlot local ${words.join(' ')}: ${errors}`)
    return output
  }
  const owners: EphemeralSandbox['owner'][] = []
  return {
    folder,
    sandboxes: join(folder, 'state/local'),
    as,
    command,
    environment,
    run,
    ask,
    start: async (...words) => (await ask('start', '--network', 'loopback', ...words)) as Info,
    async ephemeral(...words) {
      const owner = Bun.spawn(command('start', '--ephemeral', '--network', 'loopback', ...words), {
        env: environment,
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      owners.push(owner)
      const { value } = await owner.stdout.getReader().read()
      if (value === undefined) throw new Error(`no sandbox: ${await owner.stderr.text()}`)
      return { info: JSON.parse(new TextDecoder().decode(value)) as Info, owner }
    },
    async [Symbol.asyncDispose]() {
      for (const owner of owners) {
        owner.kill('SIGTERM')
        await owner.exited
      }
      const { sandboxes } = (await ask('list')) as { sandboxes: Info[] }
      for (const { name } of sandboxes) await ask('delete', '--', name)
      rmSync(folder, { recursive: true })
      if (mapped !== null) rmSync(mapped.at(-1) ?? '', { recursive: true })
    },
  }
}

/** The folders in which sandboxes of the level `landlock` have their sockets: all in /tmp, and those of a home. */
export const runtimesIn = ({ folder }: TestHome): string[] =>
  [join(folder, 'runtime/l-'), '/tmp/backlot-l-'].flatMap((start) =>
    existsSync(dirname(start))
      ? readdirSync(dirname(start))
          .map((name) => join(dirname(start), name))
          .filter((path) => path.startsWith(start))
      : [],
  )

/** Sends a command to the computer server of a sandbox that has to succeed. */
export const askInside = async ({ api_url, api_key }: Info, command: string, params: Fields = {}): Promise<Fields> => {
  const answer = await frameOf(await post(api_url, { command, params }, { 'X-API-Key': api_key }))
  if (answer.success !== true) throw new Error(`${command}: ${JSON.stringify(answer)}`)
  return answer
}

/** Runs Python in the sandbox, with a function that connects; gives `done`, or the kind of error of the system. */
export const attemptInside = (info: Info, code: string): Promise<string> =>
  shellInside(
    info,
    `python3 - <<'END'
import ctypes, os, signal, socket
def connect(family, address):
    with socket.socket(family) as s:
        s.settimeout(5)
        s.connect(address)
try:
    ${code}
    print('done')
except OSError as error:
    print(type(error).__name__)
END`,
  ).then((text) => text.trim())

/** What a shell command in a sandbox prints, errors included. */
export const shellInside = async (info: Info, command: string): Promise<string> => {
  const { stdout, stderr } = await askInside(info, 'run_command', { command })
  return `${stdout}${stderr}`
}
