/** Where a browser's process listens for debuggers; a port counts only when its listener is that very process. */
import { access, readdir, readFile, readlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { page as limits } from '@backlot/contract/limits'

/** A server that speaks one of the two protocols. */
export interface DebugServer {
  readonly protocol: 'cdp' | 'webdriver_bidi'
  /** Address of its WebSocket. */
  readonly url: string
}

/** The debugging server of the process, if it has one that this user can reach. */
export const debugServerOf = async (pid: number): Promise<DebugServer | undefined> => {
  const words = await commandLine(pid)
  const named = optionOf(words, '--remote-debugging-port')
  const listening = await listeningPorts(pid)
  const wanted = [Number(named), await activePort(words)].filter((port) => listening.has(port))
  const protocol = (await isGecko(pid)) ? 'webdriver_bidi' : 'cdp'
  // A Firefox that was not asked to listen for debuggers listens for something else.
  if (protocol === 'webdriver_bidi' && named === undefined) return undefined
  for (const port of wanted.length > 0 ? wanted : listening.keys()) {
    const host = listening.get(port) ?? ''
    if (protocol === 'webdriver_bidi') return { protocol, url: `ws://${host}:${port}/session` }
    const server = await chromeAt(host, port)
    if (server !== undefined) return server
  }
  return undefined
}

/** The words a process was started with; a program may have rewritten them with blanks in between. */
const commandLine = async (pid: number): Promise<string[]> => {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const words = text.split('\0').filter((word) => word !== '')
  return words.length === 1 ? (words[0] ?? '').split(' ') : words
}

/** The value of `--name=value` or `--name value`; empty where the option stands alone. */
export const optionOf = (words: readonly string[], name: string): string | undefined => {
  // Firefox takes one dash as well.
  const at = words.findLastIndex((word) => word.replace(/^--?/, '--').split('=')[0] === name)
  if (at < 0) return undefined
  const [word, next] = [words[at] ?? '', words[at + 1] ?? '']
  if (word.includes('=')) return word.slice(word.indexOf('=') + 1)
  return next.startsWith('-') ? '' : next
}

/** The port that Chromium wrote into its profile: the one it chose itself where it was asked for port 0. */
const activePort = async (words: readonly string[]): Promise<number> => {
  const profile = optionOf(words, '--user-data-dir')
  if (!profile) return Number.NaN
  const text = await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '')
  return Number.parseInt(text, 10)
}

/** TCP ports on which the process itself listens in our network namespace, with the address to reach each at. */
const listeningPorts = async (pid: number): Promise<ReadonlyMap<number, string>> => {
  const own = await socketsOf(pid)
  const ports = new Map<number, string>()
  if (own.size === 0) return ports
  for (const [file, loopback, anywhere, host] of tables) {
    const rows = (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(1)
    for (const row of rows) {
      // proc(5): number, local address, remote address, state (0A: listening), queues, timer, retransmissions, uid, timeout, inode.
      const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      if (state !== '0A' || !own.has(inode) || (address !== loopback && address !== anywhere)) continue
      ports.set(Number.parseInt(port, 16), host)
    }
  }
  return ports
}

/** Each table of listeners: its file, the loopback and the wildcard address as it spells them, and the host to ask. */
const tables = [
  ['/proc/net/tcp6', '00000000000000000000000001000000', '0'.repeat(32), '[::1]'],
  ['/proc/net/tcp', '0100007F', '00000000', '127.0.0.1'],
] as const

/** Inodes of the sockets that a process has open. */
const socketsOf = async (pid: number): Promise<ReadonlySet<string>> => {
  const folder = `/proc/${pid}/fd`
  const descriptors = await readdir(folder).catch(() => [])
  const links = await Promise.all(descriptors.map((name) => readlink(join(folder, name)).catch(() => '')))
  return new Set(links.flatMap((link) => link.match(/^socket:\[(\d+)\]$/)?.[1] ?? []))
}

/** The body of `GET /json/version`, asked on a plain socket: `fetch` would go through a proxy of the environment. */
const versionOf = (host: string, port: number): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port })
  let answer = ''
  socket.setEncoding('utf8').setTimeout(limits.discoveryMs, () => socket.destroy(new Error('no answer in time')))
  socket.on('data', (text: string) => {
    answer += text
    if (answer.length > longestVersion) socket.destroy(new Error('the answer is too long'))
    const [head = '', body] = answer.split('\r\n\r\n', 2)
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? Number.POSITIVE_INFINITY)
    if (body === undefined || Buffer.byteLength(body) < length) return
    resolve(body)
    socket.destroy()
  })
  socket.on('error', reject).on('close', () => resolve(answer.split('\r\n\r\n', 2)[1] ?? ''))
  socket.write(`GET /json/version HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`)
  return promise
}

/** Far more than any browser says of its version. */
const longestVersion = 64 * 1024

/** Chromium answers `GET /json/version` with the address of its WebSocket, which must be the same server. */
const chromeAt = async (host: string, port: number): Promise<DebugServer | undefined> => {
  try {
    const { Browser, webSocketDebuggerUrl } = JSON.parse(await versionOf(host, port)) as Record<string, unknown>
    const url = URL.parse(String(webSocketDebuggerUrl))
    // Node's own inspector speaks the same protocol without pages.
    if (url?.protocol !== 'ws:' || Number(url.port) !== port || String(Browser).startsWith('node')) return undefined
    return { protocol: 'cdp', url: `ws://${host}:${port}${url.pathname}` }
  } catch {
    return undefined
  }
}

/** Firefox and its relatives have their engine in a library of this name beside the program. */
const isGecko = async (pid: number): Promise<boolean> => {
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '')
  return access(join(dirname(program), 'libxul.so')).then(
    () => true,
    () => false,
  )
}
