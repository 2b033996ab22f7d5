/** Failures of the computer server. */
import { kinds } from './kind.ts'

export const computerFailures = kinds({
  device_failed: { when: 'An Android device, or adb between it and us, does not answer or refuses.', exit: 1 },
  not_available: { when: 'The computer has not what a command needs.', exit: 1 },
  command_timed_out: { when: 'A shell command took longer than it was allowed, and was ended.', exit: 1 },
  command_not_found: { when: 'No shell command of that process runs.', exit: 1, status: 404 },
  terminal_unknown: { when: 'No terminal has that process, or it ended long ago.', exit: 1, status: 404 },
  film_not_found: { when: 'A computer server has no film of that name.', exit: 1, status: 404 },
  film_in_use: { when: 'A film has that name already, or another server makes it.', exit: 1, status: 409 },
  too_many_films: { when: 'As many films are being made as a computer server makes at a time.', exit: 1, status: 409 },
  too_many_terminals: { when: 'As many terminals run as a computer server keeps.', exit: 1, status: 409 },
  file_exists: { when: 'Something is at a path where nothing may be.', exit: 1, status: 409 },
  folder_not_empty: { when: 'A folder that is to be removed alone holds something.', exit: 1, status: 409 },
  file_refused: { when: 'The system does not let a file or folder be used as asked.', exit: 1, status: 403 },
  file_too_large: { when: 'A file is longer than one answer holds.', exit: 1 },
})
