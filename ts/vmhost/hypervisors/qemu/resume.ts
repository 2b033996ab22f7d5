/** Whether the QEMU that is here can go on with a saved memory. */
import { stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { discardHint, fitsDisk, type SavedState } from '../../snapshots/saved-state.ts'
import type { StoredVm } from '../../vms/vm-store.ts'
import type { Accelerator } from './arguments.ts'

/** Lines of a QEMU that cannot read a memory, or knows no such machine. */
const refusal = /migration|savevm|vmstate|machine type|ramblock|Unknown section|Length mismatch/i

/** Throws `memory_unreadable` where it is seen without trying that the memory is of no use here. */
export const refuseUnreadableMemory = async (
  { name, path }: StoredVm,
  saved: SavedState,
  version: string,
  available: () => Promise<Accelerator>,
): Promise<void> => {
  const failure = (why: string, next: string) =>
    new Failure('memory_unreadable', `The saved memory of "${name}" cannot be used: ${why}. ${next}, ${discardHint}`, {
      name,
    })
  if (!(await fitsDisk(path, saved)))
    throw failure('its disk was written to since it was saved', 'Put the disk back as it was')
  if (isOlder(version, saved.version)) throw unreadableBy(name, saved, version)
  if (saved.accelerator === 'kvm' && (await available()) !== 'kvm')
    throw failure('it was saved with KVM, which does not run guests here', 'Make KVM available')
}

/** That this QEMU cannot read it, with both versions and its own words. */
export const unreadableBy = (name: string, saved: SavedState, version: string, said?: string): Failure =>
  new Failure(
    'memory_unreadable',
    `The saved memory of "${name}" cannot be read: QEMU ${saved.version} saved it (machine ${saved.machineType}), and here is QEMU ${version}${said === undefined ? '' : `, which says: ${said}`}. Install the one that saved it, ${discardHint}`,
    { name, savedBy: saved.version, machineType: saved.machineType, version },
  )

/** The failure to start as one of the memory, where QEMU's words are about that. */
export const asUnreadable = (failure: Failure, name: string, saved: SavedState, version: string): Failure => {
  const { lines } = failure.data
  const words = Array.isArray(lines) ? lines.map(String) : [failure.message]
  const said = words.findLast((line) => refusal.test(line))?.replace(/^.*?qemu-system-\w+: /, '')
  return said === undefined ? failure : unreadableBy(name, saved, version, said.replace(/\.$/, ''))
}

/** What programs said of themselves, by their files: asking one takes as long as starting a guest from its saved memory does. */
const versions = new Map<string, string>()

/** What a QEMU program is, like `7.2.22`. */
export const programVersion = async (program: string): Promise<string> => {
  const { dev, ino, size, mtimeMs } = await stat(program)
  const file = `${program} ${dev} ${ino} ${size} ${mtimeMs}`
  const known = versions.get(file)
  if (known !== undefined) return known
  const said = await Bun.$`${program} --version`.quiet().nothrow().text()
  const version = /version ([\d.]+\d)/.exec(said)?.[1]
  if (version !== undefined) versions.set(file, version)
  return version ?? 'of unknown version'
}

/** Whether a version comes before another, by major and minor number: the last number changes no format. */
const isOlder = (one: string, other: string): boolean => {
  const [a = 0, b = 0] = one.split('.').map(Number)
  const [c = 0, d = 0] = other.split('.').map(Number)
  return a < c || (a === c && b < d)
}
