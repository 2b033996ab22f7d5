/** Acts inside guests. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers, Host } from '../host/host.ts'
import type { Guest, Machine } from '../hypervisors/hypervisor.ts'
import { refuseLacking } from '../hypervisors/lacking.ts'
import type { GuestCommand } from '../hypervisors/qemu/guest/guest-exec.ts'
import { quoted } from '../hypervisors/qemu/guest/guest-files.ts'
import { findVm, refuseElsewhere } from '../lifecycle/find.ts'
import type { VmPlace } from '../vms/vm-store.ts'

/** Seconds for a command whose caller names none. */
const usualSeconds = 60

type ExecInput = Parameters<Handlers['execInVm']>[0]

/** A command for a guest that is there. */
export interface Prepared {
  readonly guest: Guest
  readonly command: GuestCommand
  readonly timeoutMs: number
}

export const execInVm: Handlers['execInVm'] = async (input, host) => {
  const { guest, command, timeoutMs } = await prepareExec(input, host)
  return guest.execute(command, timeoutMs)
}

/** Milliseconds that a guest which is being started may take until its agent tells something. */
const startsWithinMs = 60_000

export const listInterfaces: Handlers['listInterfaces'] = async ({ name, storage }, host) =>
  (await machineOf(host, name, storage, startsWithinMs)).guest.interfaces()

/** What is to be run in which guest. Throws what finding it throws, and `invalid_argument`. */
export const prepareExec = async (
  { name, command, timeoutSeconds = usualSeconds, storage, environment = {}, folder, input }: ExecInput,
  host: Host,
): Promise<Prepared> => {
  const timeoutMs = timeoutSeconds * 1000
  const { guest, place } = await machineOf(host, name, storage, timeoutMs)
  if (place.settings.guestOs === 'windows' && (folder !== undefined || Object.keys(environment).length > 0)) {
    const why = '"environment" and "folder" are for guests with Linux; say them in the command.'
    throw new Failure('invalid_argument', why, { argument: folder === undefined ? 'environment' : 'folder' })
  }
  return { guest, command: { command: begunIn(command, environment, folder), input }, timeoutMs }
}

/** The machine of a VM, once its start, if one is under way, has its outcome. Throws where it does not run here. */
export const machineOf = async (
  host: Host,
  name: string,
  storage: string | undefined,
  withinMs: number,
): Promise<Machine> => {
  const vm = await findVm(host, name, storage)
  refuseLacking(host.machines.hypervisor, 'guestAgent')
  const machine = await startedMachine(host, vm, performance.now() + withinMs)
  if (machine !== undefined) return machine
  refuseElsewhere(host, vm)
  host.machines.refuseSuspended(vm, 'Resume it first.')
  throw new Failure('vm_not_running', `"${name}" does not run; start it first.`, { name })
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

/** Milliseconds between two looks whether a VM has been started. */
const looksEveryMs = 20

/** The machine of a VM, once its start, if one is under way, has its outcome; undefined where it does not run. */
const startedMachine = async ({ machines }: Host, vm: VmPlace, deadline: number): Promise<Machine | undefined> => {
  while (machines.status(vm) === 'starting' && performance.now() < deadline) await Bun.sleep(looksEveryMs)
  return machines.get(vm.path)
}
