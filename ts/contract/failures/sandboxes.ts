/** Failures of private desktops and sandboxes. */
import { kinds } from './kind.ts'

export const sandboxFailures = kinds({
  missing_program: { when: 'A program that Backlot starts is not installed.', exit: 1 },
  desktop_not_started: { when: 'A part of a private desktop ended or kept silent before it was ready.', exit: 1 },
  desktop_lost: { when: 'A part of a private desktop ended while it was in use.', exit: 1 },
  sandbox_exists: { when: 'A sandbox of that name is there already.', exit: 1, status: 409 },
  sandbox_not_found: { when: 'There is no sandbox of that name.', exit: 1, status: 404 },
  snapshot_not_found: { when: 'No snapshot has that id or name, or it has just been deleted.', exit: 1, status: 404 },
  pool_not_found: { when: 'No program keeps a pool of that name.', exit: 1, status: 404 },
  sandbox_not_running: {
    when: 'The sandbox is suspended or stopped, and what is asked needs it running.',
    exit: 1,
    status: 409,
  },
  sandbox_busy: { when: 'Another program changes the sandbox.', exit: 1, status: 409 },
  sandbox_not_started: { when: 'A sandbox ended or kept silent before it was ready.', exit: 1 },
  root_not_built: { when: 'The root file system of sandboxes could not be built.', exit: 1 },
  runtime_unavailable: { when: 'What starts sandboxes does not work here.', exit: 1 },
  unsupported: { when: 'What is asked cannot be done here, for a reason that the message gives.', exit: 1 },
  user_without_name: { when: 'The user id has no entry in the user database, which D-Bus needs.', exit: 1 },
})
