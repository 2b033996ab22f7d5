/** SSH to a guest, with the terminal's own input and output. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { VmReference } from '../host/guest-stream.ts'
import type { Service } from '../host/service.ts'
import { onInterrupt } from '../sandbox/verb.ts'

/** Who logs in, and what is run. */
export interface Login {
  readonly user: string
  /** Empty for a shell. */
  readonly command: string
  readonly timeoutSeconds: number
  /** File of the private key; absent where those of the person are tried. */
  readonly keyFile?: string
  /** Ends ssh. */
  readonly signal?: AbortSignal
}

/** The port of the guest on which SSH is looked for. */
const sshPort = 22

/** Runs ssh and gives its exit status. Throws `vm_not_running` and `missing_program`. */
export const sshTo = async ({ client }: Service, vm: VmReference, login: Login): Promise<number> => {
  const { name } = vm
  const { forwards, status } = await client.getVm(vm)
  const forward = forwards.find(({ guestPort }) => guestPort === sshPort)
  if (status !== 'running' || forward === undefined) {
    const why = status === 'running' ? 'has no network' : 'does not run'
    throw new Failure('vm_not_running', `"${name}" ${why}: ssh cannot reach it.`, { name })
  }
  // The keys of a guest are new with each copy of it: they are not kept as those of an address.
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    `ConnectTimeout=${Math.ceil(login.timeoutSeconds)}`,
    ...(login.keyFile === undefined ? [] : [`IdentityFile=${login.keyFile}`, 'IdentitiesOnly=yes']),
  ]
  login.signal?.throwIfAborted()
  const child = Bun.spawn(
    [
      programOf('ssh'),
      ...options.flatMap((option) => ['-o', option]),
      ...['-p', String(forward.port), `${login.user}@${forward.address}`],
      ...(login.command === '' ? [] : [login.command]),
    ],
    { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit', ...(login.signal && { signal: login.signal }) },
  )
  return child.exited
}

/**
 * Lets the guest know a key that is made for this login alone, through its agent, and takes it back when `use` is done
 * with the file that holds it; a signal that asks this program to end aborts the one that `use` is given. Throws
 * `agent_unavailable`, `missing_program`, and `guest_file_failed` where nobody of that name is there or a symbolic link
 * stands in place of that user's keys.
 */
export const withOwnKey = async <Value>(
  { client }: Service,
  vm: VmReference,
  user: string,
  use: (key: Required<Pick<Login, 'keyFile' | 'signal'>>) => Promise<Value>,
): Promise<Value> => {
  const interrupted = new AbortController()
  using _ = onInterrupt(() => interrupted.abort(new Failure('cancelled', 'It was interrupted; the login is over.')))
  const folder = await mkdtemp(join(tmpdir(), 'backlot-key-'))
  try {
    const keyFile = join(folder, 'key')
    const mark = `backlot-${crypto.randomUUID()}`
    const words = [programOf('ssh-keygen'), '-q', '-t', 'ed25519', '-N', '', '-C', mark, '-f', keyFile]
    const { exitCode, stderr } = Bun.spawnSync(words)
    if (exitCode !== 0) throw new Failure('missing_program', `ssh-keygen makes no key: ${stderr}`, {})
    const key = (await Bun.file(`${keyFile}.pub`).text()).trim()
    const known = await client.execInVm({ ...vm, command: allowing(user, key) })
    if (known.exitCode !== 0) {
      const why = known.stderr.trim() || `nobody is called "${user}"`
      throw new Failure('guest_file_failed', `"${vm.name}" takes no key for "${user}": ${why}.`, { user })
    }
    try {
      return await use({ keyFile, signal: interrupted.signal })
    } finally {
      // A guest that ended meanwhile has nobody to take it back from.
      await client.execInVm({ ...vm, command: forgetting(user, mark) }).catch(() => undefined)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Words for a shell that name the file of a user's keys `$file`, and the user's home `$home`. */
const fileOf = (user: string): string =>
  `home=$(awk -F: -v user='${user}' '$1 == user { print $6 }' /etc/passwd)
[ -n "$home" ] || exit 3
file=$home/.ssh/authorized_keys`

/** The agent writes as root: a user's link must not lead it to files of others. */
const allowing = (user: string, key: string): string => `${fileOf(user)}
umask 077
mkdir -p "$home/.ssh"
if [ -L "$home/.ssh" ] || [ -L "$file" ]; then echo "a symbolic link stands in place of $file" >&2; exit 4; fi
echo '${key}' >>"$file" && chown -h "$(stat -c %u:%g "$home")" "$home/.ssh" "$file"`

const forgetting = (user: string, mark: string): string => `${fileOf(user)}
sed -i '/ ${mark}$/d' "$file"`

const programOf = (program: 'ssh' | 'ssh-keygen'): string => {
  const found = Bun.which(program)
  if (found !== null) return found
  throw new Failure('missing_program', `"${program}" is not installed: apt-get install openssh-client.`, {
    program,
    packages: ['openssh-client'],
  })
}
