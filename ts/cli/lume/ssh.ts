/** A command or a shell in a guest: through its agent where one answers, else through ssh. */
import { Failure } from '@backlot/contract/failure'
import { printGuestOutput } from '../host/guest-output.ts'
import type { Service } from '../host/service.ts'

/** What is to be run, and as whom where it goes through ssh. */
export interface GuestCall {
  readonly name: string
  /** Where the VM is looked for. */
  readonly storage: string | undefined
  /** Empty for a shell. */
  readonly command: string
  readonly user: string | undefined
  readonly timeoutSeconds: number
}

/** Runs it with the terminal's own input and output; gives its exit status. */
export const runInGuest = async (
  { client }: Service,
  { name, storage, command, user, timeoutSeconds }: GuestCall,
): Promise<number> => {
  const vm = { name, ...(storage !== undefined && { storage }) }
  // A shell needs a terminal, which the agent has none of; a user is somebody to log in as.
  if (command !== '' && user === undefined) {
    try {
      return await printGuestOutput(await client.execInVm({ ...vm, command, timeoutSeconds }))
    } catch (error) {
      if (Failure.from(error).code !== 'agent_unavailable') throw error
    }
  }
  const { forwards, status } = await client.getVm(vm)
  const forward = forwards.find(({ guestPort }) => guestPort === 22)
  if (status !== 'running' || forward === undefined) {
    const why = status === 'running' ? 'has no network' : 'does not run'
    throw new Failure('vm_not_running', `"${name}" ${why}: neither its agent nor ssh can be reached.`, { name })
  }
  const ssh = Bun.which('ssh')
  if (ssh === null) {
    throw new Failure(
      'missing_program',
      'No agent answers in the guest, and "ssh" is not installed: apt-get install openssh-client.',
      {
        program: 'ssh',
        packages: ['openssh-client'],
      },
    )
  }
  // The keys of a guest are new with each copy of it: they are not kept as those of an address.
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    `ConnectTimeout=${Math.ceil(timeoutSeconds)}`,
  ]
  const child = Bun.spawn(
    [
      ssh,
      ...options.flatMap((option) => ['-o', option]),
      ...['-p', String(forward.port), `${user ?? 'root'}@${forward.address}`],
      ...(command === '' ? [] : [command]),
    ],
    { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' },
  )
  return child.exited
}
