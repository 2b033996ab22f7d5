/** An X server and nothing else. */

/** A running X server that anybody may use. */
export interface BareServer extends AsyncDisposable {
  /** Such as `:5`. */
  readonly display: string
  readonly pid: number
}

/** Starts an Xvfb with these further flags; ready when it says its display. */
export const startBareServer = async (...flags: string[]): Promise<BareServer> => {
  const command = ['Xvfb', '-displayfd', '1', '-nolisten', 'tcp', '-listen', 'local', '-ac', ...flags]
  const server = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  let number = ''
  for await (const bytes of server.stdout) {
    number += Buffer.from(bytes).toString()
    if (number.endsWith('\n')) break
  }
  return {
    display: `:${number.trim()}`,
    pid: server.pid,
    async [Symbol.asyncDispose]() {
      // Not SIGKILL: it removes its socket itself.
      server.kill()
      await server.exited
    },
  }
}
