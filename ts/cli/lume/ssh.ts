/** A command or a shell in a guest: through its agent where one answers, else through ssh. */
import { Failure } from '@backlot/contract/failure'
import { runStreamed } from '../host/guest-stream.ts'
import type { Service } from '../host/service.ts'
import { sshTo, withOwnKey } from '../vm/ssh.ts'

/** What is to be run, and as whom where it goes through ssh. */
export interface GuestCall {
  readonly name: string
  /** Where the VM is looked for. */
  readonly storage: string | undefined
  /** Empty for a shell. */
  readonly command: string
  readonly user: string | undefined
  readonly timeoutSeconds: number
}

/** Runs it with the terminal's own input and output; gives its exit status. */
export const runInGuest = async (
  service: Service,
  { name, storage, command, user, timeoutSeconds }: GuestCall,
): Promise<number> => {
  const vm = { name, ...(storage !== undefined && { storage }) }
  const login = { user: user ?? 'root', command, timeoutSeconds }
  // Somebody who is named logs in with keys of their own.
  if (user === undefined) {
    try {
      if (command !== '') return await runStreamed(service, { ...vm, command, timeoutSeconds })
      return await withOwnKey(service, vm, login.user, (key) => sshTo(service, vm, { ...login, ...key }))
    } catch (error) {
      const { code, data } = Failure.from(error)
      // What has begun, or may have, is not run a second time; for a shell the agent has only been asked to take a key.
      if (code !== 'agent_unavailable' || (command !== '' && data.hasBegun === true)) throw error
    }
  }
  return sshTo(service, vm, login)
}
