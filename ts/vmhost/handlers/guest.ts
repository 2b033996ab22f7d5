/** Acts inside guests. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers, Host } from '../host/host.ts'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { findVm, refuseElsewhere } from '../lifecycle/find.ts'
import type { VmPlace } from '../vms/vm-store.ts'

/** Seconds for a command whose caller names none. */
const usualSeconds = 60

export const execInVm: Handlers['execInVm'] = async (
  { name, command, timeoutSeconds = usualSeconds, storage, environment = {}, folder, input },
  host,
) => {
  const vm = await findVm(host, name, storage)
  const machine = await startedMachine(host, vm, performance.now() + timeoutSeconds * 1000)
  if (machine === undefined) {
    refuseElsewhere(host, vm)
    host.machines.refuseSuspended(vm, 'Resume it first.')
    throw new Failure('vm_not_running', `"${name}" does not run; start it first.`, { name })
  }
  if (vm.settings.guestOs === 'windows' && (folder !== undefined || Object.keys(environment).length > 0)) {
    const why = '"environment" and "folder" are for guests with Linux; say them in the command.'
    throw new Failure('invalid_argument', why, { argument: folder === undefined ? 'environment' : 'folder' })
  }
  return machine.execute(begunIn(command, environment, folder), timeoutSeconds * 1000, input)
}

/** The command for a shell that gives it these variables and begins in that folder. */
const begunIn = (
  command: string,
  environment: Readonly<Record<string, string>>,
  folder: string | undefined,
): string => {
  const enter = folder === undefined ? [] : [`cd ${quoted(folder)} || exit 126`]
  const variables = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}`)
  return [...enter, ...variables, command].join('\n')
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** Milliseconds between two looks whether a VM has been started. */
const looksEveryMs = 20

/** The machine of a VM, once its start, if one is under way, has its outcome; undefined where it does not run. */
const startedMachine = async ({ machines }: Host, vm: VmPlace, deadline: number): Promise<Machine | undefined> => {
  while (machines.status(vm) === 'starting' && performance.now() < deadline) await Bun.sleep(looksEveryMs)
  return machines.get(vm.path)
}
