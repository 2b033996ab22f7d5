/** Acts inside guests. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers, Host } from '../host/host.ts'
import type { Guest, Machine } from '../hypervisors/hypervisor.ts'
import { refuseLacking } from '../hypervisors/lacking.ts'
import { type GuestCommand, quoted } from '../hypervisors/qemu/guest/guest-exec.ts'
import { findVm, refuseElsewhere } from '../lifecycle/find.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { awaitInput } from './guest-input.ts'

/** Seconds for a command whose caller names none. */
const usualSeconds = 60

type ExecInput = Parameters<Handlers['execInVm']>[0]

/** A command for a guest that is there. */
export interface PreparedCommand {
  readonly guest: Guest
  readonly command: GuestCommand
  readonly timeoutMs: number
}

export const execInVm: Handlers['execInVm'] = async (input, host, signal) => {
  const { guest, command, timeoutMs } = await prepareExec(input, host)
  return guest.execute(command, timeoutMs, signal)
}

/** Milliseconds that a guest which is being started may take until its agent tells something. */
const startsWithinMs = 60_000

export const listInterfaces: Handlers['listInterfaces'] = async ({ name, storage }, host) =>
  (await machineOf(host, name, storage, startsWithinMs)).guest.interfaces()

/** What is to be run in which guest. Throws what finding it throws, and `invalid_argument`. */
export const prepareExec = async (
  { name, command, timeoutSeconds = usualSeconds, storage, environment = {}, folder, input, inputId }: ExecInput,
  host: Host,
): Promise<PreparedCommand> => {
  const timeoutMs = timeoutSeconds * 1000
  const { guest, place } = await machineOf(host, name, storage, timeoutMs)
  refuseForLinux(place.settings.guestOs, { environment, folder, inputId })
  if (input !== undefined && inputId !== undefined) {
    const why = '"input" and "inputId" are two ways to say what the command reads; give one of them.'
    throw new Failure('invalid_argument', why, { argument: 'inputId' })
  }
  const read = inputId === undefined ? input : awaitInput(place, inputId)
  return { guest, command: { command: begunIn(command, folder), environment, input: read }, timeoutMs }
}

/** Throws `invalid_argument` where something is asked that the agent cannot do in such a guest. */
const refuseForLinux = (
  guestOs: string,
  {
    environment,
    folder,
    inputId,
  }: Pick<ExecInput, 'environment'> & Readonly<Record<'folder' | 'inputId', string | undefined>>,
): void => {
  const isWindows = guestOs === 'windows'
  const refuse = (argument: string, next: string) => {
    throw new Failure('invalid_argument', `"${argument}" is for guests with Linux; ${next}.`, { argument })
  }
  if (isWindows && Object.keys(environment ?? {}).length > 0) refuse('environment', 'say it in the command')
  if (isWindows && folder !== undefined) refuse('folder', 'say it in the command')
  if (guestOs !== 'linux' && inputId !== undefined) refuse('inputId', 'give what the command reads as "input"')
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

/** The command for a shell that begins in that folder. */
const begunIn = (command: string, folder: string | undefined): string =>
  folder === undefined ? command : `cd ${quoted(folder)} || exit 126\n${command}`

/** Milliseconds between two looks whether a VM has been started. */
const looksEveryMs = 20

/** The machine of a VM, once its start, if one is under way, has its outcome; undefined where it does not run. */
const startedMachine = async ({ machines }: Host, vm: VmPlace, deadline: number): Promise<Machine | undefined> => {
  while (machines.status(vm) === 'starting' && performance.now() < deadline) await Bun.sleep(looksEveryMs)
  return machines.get(vm.path)
}
