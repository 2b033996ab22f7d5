/** Failures of the command line, and of the way to the daemon. */
import { kinds } from './kind.ts'

export const commandFailures = kinds({
  usage: { when: 'A command is called with a flag or an argument that it does not take.', exit: 64 },
  unknown_command: { when: 'The executable has no command and no tool of that name.', exit: 64 },
  unknown_method: { when: 'A line on the socket names no method of the daemon.', exit: 64 },
  message_too_long: { when: 'A line on the socket is longer than the limit.', exit: 1 },
  socket_refused: { when: "The folder or the file of the socket is not the caller's own.", exit: 1 },
  already_running: {
    when: 'A second daemon is started on the socket of a living one, or a second VM host acts on VMs that another looks after.',
    exit: 1,
  },
  not_running: { when: 'No daemon listens on the socket.', exit: 1 },
  daemon_unavailable: { when: 'The daemon did not start or does not answer.', exit: 1 },
  daemon_mismatch: { when: 'The daemon has another version, display or session bus than the caller.', exit: 1 },
  daemon_lost: { when: 'The daemon ended in the middle of a call, whose outcome is unknown.', exit: 1 },
})
