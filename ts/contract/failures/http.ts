/** Failures of every server: who may ask, and where it listens. */
import { kinds } from './kind.ts'

export const httpFailures = kinds({
  invalid_body: { when: 'The body of a request is absent, not JSON, too large, or a field of it is wrong.', exit: 1 },
  unknown_operation: { when: 'No operation has that method and path.', exit: 1, status: 404 },
  foreign_host: {
    when: 'The `Host` of a request is not the address that the service listens on.',
    exit: 1,
    status: 403,
  },
  foreign_origin: { when: 'A web page that is not ours sent the request.', exit: 1, status: 403 },
  from_guest: {
    when: 'A guest of this machine, a VM or a container with a network of its own, asks a service without its token.',
    exit: 1,
    status: 403,
  },
  unauthorized: {
    when: 'The service asks for a token, and the request carries none or another.',
    exit: 1,
    status: 401,
  },
  token_required: { when: 'A service is to listen beyond this machine without asking for a token.', exit: 1 },
  no_console: { when: 'The service listens on a Unix socket, where no browser reaches its console.', exit: 1 },
  no_screen: { when: 'The VM or sandbox does not run, or runs without a display.', exit: 1, status: 409 },
  not_a_socket: { when: 'A plain request asks for what only a WebSocket is given.', exit: 1, status: 426 },
  cannot_listen: { when: 'The address is taken, or is none of this machine.', exit: 1 },
  host_unreachable: { when: 'No VM host answers at the address.', exit: 1 },
})
