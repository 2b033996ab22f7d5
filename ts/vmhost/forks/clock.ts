/** The clock of a guest that goes on: it stood still as long as its memory was saved. */
import type { Machine } from '../hypervisors/hypervisor.ts'
import { clockCommand, listens } from './identity.ts'

/** Milliseconds that setting it may take. */
const withinMs = 30_000

/**
 * Gives the guest the time once its agent listens; nobody waits for it. A guest without an agent, or of a system that is no Linux,
 * asks a time server or keeps the time at which it was saved.
 */
export const setClock = (machine: Machine): void => void give(machine).catch(() => undefined)

const give = async (machine: Machine): Promise<void> => {
  if (machine.place.settings.guestOs !== 'linux' || !(await listens(machine))) return
  await machine.guest.execute({ command: clockCommand() }, withinMs)
}
