/** A port of 127.0.0.1 that leads to the Unix socket of a computer server in a sandbox. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { Failure } from '@backlot/contract/failure'

/** `O_PATH` of open(2): a file without what is in it, which node does not name. */
const pathOnly = 0o10000000

/** A port that is taken, at first leading nowhere. */
export interface Forwarder extends AsyncDisposable {
  readonly port: number
  /**
   * From now on the port leads to this socket. It stays the same one whatever a program of the sandbox puts in its
   * place, which could be a link to a socket of the host. `claim` makes it one that this user may call, by its
   * descriptor. Throws `sandbox_not_started` where it is no socket.
   */
  leadTo(socket: string, claim: (descriptor: number) => Promise<void>): Promise<void>
}

/** Takes a free port; connections end at once while `isOpen` says no. */
export const startForwarder = async (isOpen: () => boolean): Promise<Forwarder> => {
  let file: number | null = null
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (caller) => {
    if (file === null || !isOpen()) {
      caller.destroy()
      return
    }
    const inside = connect({ path: `/proc/self/fd/${file}`, allowHalfOpen: true })
    const end = () => {
      caller.destroy()
      inside.destroy()
    }
    caller.on('error', end)
    inside.on('error', end)
    caller.on('close', end)
    inside.on('close', end)
    caller.pipe(inside)
    inside.pipe(caller)
    caller.resume()
  })
  await listening(server)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async leadTo(socket, claim) {
      const opened = openSync(socket, pathOnly | constants.O_NOFOLLOW)
      if (!fstatSync(opened).isSocket()) {
        closeSync(opened)
        throw new Failure('sandbox_not_started', `"${socket}" is no socket; delete the sandbox and start it again.`)
      }
      file = opened
      await claim(opened)
    },
    async [Symbol.asyncDispose]() {
      server.close()
      if (file !== null) closeSync(file)
      file = null
    },
  }
}

const listening = (server: Server): Promise<void> =>
  new Promise((settle, refuse) => {
    server.once('error', refuse)
    server.listen(0, '127.0.0.1', settle)
  })
