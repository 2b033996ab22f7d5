/** Snapshots of VMs as the SDK names them, and sandboxes that start from one. */
import { bytesOf } from '@backlot/contract/fields/size'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { BacklotError, invalidArgument, NotFoundError, UnsupportedError } from '../../errors.ts'
import type { SandboxOptions, SavedSandbox } from '../../sandbox/options.ts'
import { folders } from '../../state/folders.ts'
import { Records } from '../../state/records.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { forkWithKeys, keyByAgent, withOwnKey } from './guest-server.ts'
import type { VmHost } from './host.ts'

/** A snapshot's id is the name of its VM, a dot, and its own name there: names of sandboxes have no dots. */
export const snapshotId = (vm: string, snapshot: string): string => `${vm}.${snapshot}`

/** The VM and the name there of a snapshot; throws `snapshot_not_found`. */
export const placeOf = (id: string): { vm: string; snapshot: string } => {
  const [, vm, snapshot] = /^([^.]+)\.(.+)$/.exec(id) ?? []
  if (vm === undefined || snapshot === undefined) throw noSnapshot(id)
  return { vm, snapshot }
}

export const noSnapshot = (id: string): NotFoundError =>
  new NotFoundError('snapshot_not_found', `There is no snapshot "${id}". \`Snapshot.list()\` names those there are.`, {
    data: { id },
  })

/** The key of a guest's server as this user keeps it with its sandbox; undefined where another has it, or it asks for none. */
export const storedKey = async (name: string): Promise<string | undefined> =>
  (await new Records(`${folders().state}/sandboxes`).readKeys(name)).api_key

/** Starts a sandbox as a fork of a VM as it was at a snapshot, which is let be. Throws `snapshot_not_found`, `unsupported`, `invalid_argument`. */
export const startSnapshot = async (
  host: VmHost,
  { id, memory }: SavedSandbox,
  name: string,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<RuntimeInfo> => {
  const { vm, snapshot } = placeOf(id)
  if (!memory) throw new UnsupportedError(`The snapshot "${id}" has no memory from which a sandbox could go on.`)
  const stored = await storedKey(vm)
  const { identity, keys } = await forkWithKeys(host, vm, [name], stored, signal, snapshot).catch((error) => {
    const code = BacklotError.is(error) ? error.code : undefined
    throw code === 'sandbox_not_found' || code === 'snapshot_not_found' ? noSnapshot(id) : error
  })
  refuseOthers(await host.ask(signal, (client) => client.getVm({ name })), options)
  if (identity.some((each) => each === 'shared')) {
    const message = `The guest of "${name}" has no agent: it has the machine id, the host keys and the random numbers of "${vm}".`
    options.onProgress?.({ phase: 'note', message })
  }
  // Of a sandbox of another user of the service only its agent knows the key.
  const parents = stored ?? (await keyByAgent(host, name, signal))
  return withOwnKey(host, name, { ...keys, parents }, signal)
}

/** Throws `invalid_argument` for a size that the VM of a snapshot does not have: a machine that goes on is as large as it was. */
const refuseOthers = ({ cpuCount, memorySize, diskSize }: Vm, { cpu, memoryMb, diskGb }: SandboxOptions): void => {
  const sizes = [
    ['cpu', cpu, cpuCount],
    ['memoryMb', memoryMb === undefined ? undefined : bytesOf(`${memoryMb}MB`, 'memoryMb'), memorySize],
    ['diskGb', diskGb === undefined ? undefined : bytesOf(`${diskGb}GB`, 'diskGb'), diskSize.total],
  ] as const
  for (const [argument, wanted, is] of sizes) {
    if (wanted === undefined || wanted === is) continue
    const text = `A sandbox goes on from a snapshot as large as it was then (${is}), not with another "${argument}". Leave it out.`
    throw invalidArgument(argument, text)
  }
}
