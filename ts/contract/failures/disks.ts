/** Failures of disks and of hypervisors. */
import { kinds } from './kind.ts'

export const diskFailures = kinds({
  disk_not_found: { when: 'No file has the path of a disk, or of one that it lies on.', exit: 1 },
  disk_exists: { when: 'A file has the path of a disk that is to be made.', exit: 1 },
  disk_unreadable: { when: 'The file of a disk cannot be opened or read.', exit: 1 },
  disk_not_written: { when: 'The file of a disk cannot be made or written.', exit: 1 },
  disk_corrupt: { when: 'A disk contradicts itself or its format.', exit: 1 },
  disk_unsupported: { when: 'A disk is sound but uses what Backlot does not do.', exit: 1 },
  disk_in_use: { when: 'A hypervisor or a tool has the disk open that is to be changed.', exit: 1 },
  disk_not_shrunk: { when: 'A disk would become smaller than it is, or than the one that it lies on.', exit: 1 },
  hypervisor_unreachable: { when: "Nobody listens on a hypervisor's socket.", exit: 1 },
  hypervisor_timeout: { when: 'A hypervisor did not answer in time.', exit: 1 },
  hypervisor_lost: { when: 'The connection to a hypervisor ended, in the middle of a command perhaps.', exit: 1 },
  hypervisor_garbled: { when: "What answers on a hypervisor's socket does not speak its protocol.", exit: 1 },
  hypervisor_refused: { when: 'A hypervisor answered a command with an error.', exit: 1 },
  job_failed: { when: 'Work that a hypervisor does on its own ended with an error.', exit: 1 },
  job_not_found: { when: 'A hypervisor has no job of that name.', exit: 1 },
})
