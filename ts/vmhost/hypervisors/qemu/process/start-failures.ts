/** What QEMU writes when it gives up, as failures. */
import { Failure, type FailureCode } from '@backlot/contract/failure'

interface Complaint {
  readonly pattern: RegExp
  readonly code: FailureCode
  readonly advice: string
}

/** The first that matches says what it was. */
const complaints: readonly Complaint[] = [
  {
    pattern: /Could not set up host forwarding rule|Failed to find an available port|Address already in use/,
    code: 'port_in_use',
    advice: 'Another program took a port in that moment; run it again.',
  },
  {
    pattern: /Failed to get .* lock|Is another process using the image/,
    code: 'disk_in_use',
    advice: 'Another process uses its disk; end that one first.',
  },
  {
    pattern: /No space left on device/,
    code: 'disk_full',
    advice: 'Make room where it is kept, then run it again.',
  },
  {
    pattern:
      /[Ii]mage is corrupt|not in qcow2 format|Could not (open|read) (the )?(refcount|L1|image)|L1 table|[Ii]nvalid (qcow2|L1|refcount|snapshot)|header|backing file|Could not open '.*(disk\.qcow2|\.bases)/,
    code: 'disk_corrupt',
    advice: 'Its disk is damaged or incomplete; `qemu-img check` says more.',
  },
  {
    pattern: /[Cc]annot allocate memory|cannot set up guest memory/,
    code: 'host_memory',
    advice: 'Give it less memory, or end something else.',
  },
]

/** The failure behind the last lines of QEMU's output. */
export const failureOf = (name: string, lines: readonly string[], ended: string): Failure => {
  const errors = lines.filter((line) => !/warning:/.test(line))
  const text = errors.join('\n')
  const { code, advice } = complaints.find(({ pattern }) => pattern.test(text)) ?? {
    code: 'hypervisor_failed' as const,
    advice: 'Its `hypervisor.log` has all of it.',
  }
  const said = (errors.at(-1) ?? ended).replace(/^.*?qemu-system-\w+: /, '').replace(/\.$/, '')
  return new Failure(code, `The VM "${name}" did not start: ${said}. ${advice}`, { name, lines: lines.slice(-5) })
}
