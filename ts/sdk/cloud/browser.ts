/** Opening an address in the person's browser. */

const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens an address; says on stderr which, for those who have no browser here. */
export const openBrowser = async (url: string): Promise<void> => {
  process.stderr.write(`To sign in, open this address in a browser on this machine:\n${url}\n`)
  const { spawn } = await import('node:child_process')
  const [command, ...args] = openers[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  // Without a browser the person has the address above.
  child.on('error', () => undefined)
  child.unref()
}
