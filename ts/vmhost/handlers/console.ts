/** Lets browsers in. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../host/host.ts'

export const makeConsoleLink: Handlers['makeConsoleLink'] = async (_, host) => {
  const url = host.newLink()
  if (url !== undefined) return { url }
  throw new Failure('no_console', 'A browser cannot reach a Unix socket. Start the service with --port for a console.')
}
