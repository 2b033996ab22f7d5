/** Whether a guest can hear its power button, and whether its agent is there, as the hypervisor knows without asking it. */
import type { Qmp } from '../qmp.ts'

/**
 * The I/O port of PM1 control (ACPI specification, "PM1 Control Registers"), where the firmware of QEMU's q35 puts it.
 * Its lowest bit, SCI_EN, is set by a system that has taken ACPI over from the firmware.
 */
const pm1Control = 0x604
const sciEnabled = 0x0001
/** What is read where the firmware has put nothing yet. */
const nothing = 0xffff

/** Whether a system runs that has taken ACPI over: until then a press of the power button is lost. */
export const handlesPowerButton = async (qmp: Pick<Qmp, 'execute'>): Promise<boolean> => {
  const text = await qmp
    .execute<string>('human-monitor-command', { 'command-line': `i /xh ${pm1Control}` }, 2_000)
    .catch(() => '')
  const [, digits] = /= 0x([0-9a-f]+)/.exec(text) ?? []
  // A hypervisor that does not tell leaves it open.
  if (digits === undefined) return true
  const value = Number.parseInt(digits, 16)
  return value !== nothing && (value & sciEnabled) !== 0
}

/** Whether a program of the guest has the port of the agent open. */
export const hasAgent = async (qmp: Pick<Qmp, 'execute'>): Promise<boolean> => {
  const ports = await qmp.execute<{ label: string; 'frontend-open': boolean }[]>('query-chardev', undefined, 2_000)
  return ports.some(({ label, 'frontend-open': isOpen }) => label === 'agent' && isOpen)
}
