import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callerSockets, mayHoldSocket } from '@backlot/native'
import { Callers } from './peer.ts'

let folder: string
const open: Disposable[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backlot-peer-'))
})

afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

const native = { callerSockets, mayHoldSocket }
const callers = () => new Callers(() => native)

/** A server of this process. */
const serve = (hostname: string) => {
  const waiting: Bun.Socket[] = []
  const opened: ((socket: Bun.Socket) => void)[] = []
  const server = Bun.listen({
    hostname,
    port: 0,
    socket: {
      open(socket) {
        const next = opened.shift()
        if (next === undefined) waiting.push(socket)
        else next(socket)
      },
      data() {},
    },
  })
  open.push({ [Symbol.dispose]: () => server.stop(true) })
  return {
    port: server.port,
    /** The next connection, as the server has it. */
    async connection() {
      const socket =
        waiting.shift() ?? (await new Promise<Bun.Socket>((settle) => void opened.push((next) => settle(next))))
      return { address: socket.remoteAddress, port: socket.remotePort, ownPort: server.port }
    },
  }
}

/** Calls from a port of its own (0: any), does what is asked of it, and holds the connection until it is told to reset it. */
const program = `
import ctypes, os, socket, struct, sys
to, port, own, is_closed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == 'closed'
caller = socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET)
caller.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
caller.bind(('', own))
caller.connect((to, port))
if is_closed: ctypes.CDLL(None).prctl(4, 0)
os.write(1, b'called')
sys.stdin.read()
caller.close()
`

interface CallerOptions {
  /** The port that it calls from; 0 takes any. */
  from?: number
  /** Name of its file. */
  name?: string
  /** Whether the kernel lets nobody look into it. */
  isClosed?: boolean
}

/** The file of Python's program, and where its library lies. */
const [pythonFile = '', pythonHome = ''] = Bun.spawnSync([
  'python3',
  '-c',
  'import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)',
])
  .stdout.toString()
  .split('\n')

/** Without the right to look into every program, as most users are. */
const plain = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace'] : []

/** The command of a program that calls. */
const callerCommand = (
  to: string,
  port: number | string,
  { from = 0, name = '', isClosed = false }: CallerOptions = {},
): string[] => {
  if (name !== '') copyFileSync(pythonFile, join(folder, name))
  const command = name === '' ? pythonFile : join(folder, name)
  return [...plain, command, '-c', program, to, `${port}`, `${from}`, isClosed ? 'closed' : 'readable']
}

/** Starts a program that calls. */
const call = async (to: string, port: number, options: CallerOptions = {}) => {
  const child = Bun.spawn(callerCommand(to, port, options), {
    stdin: 'pipe',
    stdout: 'pipe',
    env: { ...process.env, PYTHONHOME: pythonHome },
  })
  open.push({ [Symbol.dispose]: () => child.kill('SIGKILL') })
  const first = await child.stdout.getReader().read()
  expect(new TextDecoder().decode(first.value)).toBe('called')
  return {
    pid: child.pid,
    async leave() {
      child.stdin.end()
      await child.exited
    },
  }
}

const ways: readonly [string, string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '::ffff:127.0.0.1'],
  ['::1', '::1'],
  ['0.0.0.0', '127.0.0.1'],
  ['0.0.0.0', '127.3.2.1'],
  ['::', '127.0.0.1'],
  ['::', '::ffff:127.0.0.1'],
  ['::', '::1'],
]

test.each(ways)('on %s a caller of %s is told from other processes', async (address, to) => {
  const server = serve(address)
  const [guest, other] = [await call(to, server.port), await call(to, server.port)]
  const [ofGuest, ofOther] = [await server.connection(), await server.connection()]
  // In the tables of /proc as by asking the kernel for the one socket.
  const refused = { ...native, callerSockets: () => raise(new Error('refused')) }
  for (const each of [native, refused]) {
    expect(new Callers(() => each).mayBeGuest([guest.pid], ofGuest)).toBe(true)
    expect(new Callers(() => each).mayBeGuest([other.pid, guest.pid], ofGuest)).toBe(true)
    expect(new Callers(() => each).mayBeGuest([guest.pid], ofOther)).toBe(false)
    expect(new Callers(() => each).mayBeGuest([], ofGuest)).toBe(false)
  }
  for (const each of [ofGuest, ofOther]) {
    const sockets = callerSockets(each.address, each.port, each.ownPort)
    expect(sockets).toEqual([{ cookie: expect.any(String), inode: expect.any(Number), uid: process.getuid?.() ?? 0 }])
  }
})

const raise = (error: Error): never => {
  throw error
}

test('one who has left may have been any', async () => {
  const server = serve('127.0.0.1')
  const caller = await call('127.0.0.1', server.port)
  const connection = await server.connection()
  await caller.leave()
  expect(callers().mayBeGuest([], connection)).toBe(true)
})

test('one who goes while it is looked for is not taken for another', async () => {
  const server = serve('127.0.0.1')
  await call('127.0.0.1', server.port)
  const connection = await server.connection()
  let asked = 0
  const left = {
    ...native,
    callerSockets: (...of: Parameters<typeof callerSockets>) => (asked++ > 0 ? [] : callerSockets(...of)),
  }
  expect(new Callers(() => left).mayBeGuest([], connection)).toBe(true)
})

test('a caller is looked for once a connection, and again when other processes are guests', async () => {
  const server = serve('127.0.0.1')
  const caller = await call('127.0.0.1', server.port)
  const connection = await server.connection()
  let looks = 0
  const counted = {
    ...native,
    mayHoldSocket(...of: Parameters<typeof mayHoldSocket>) {
      looks += 1
      return mayHoldSocket(...of)
    },
  }
  const known = new Callers(() => counted)
  expect([known.mayBeGuest([1], connection), known.mayBeGuest([1], connection), looks]).toEqual([false, false, 1])
  expect([known.mayBeGuest([1, caller.pid], connection), looks]).toEqual([true, 2])
  expect([known.mayBeGuest([1], connection), looks]).toEqual([false, 3])
})

test('who calls from the port of another is looked for anew', async () => {
  const server = serve('127.0.0.1')
  const known = callers()
  const first = await call('127.0.0.1', server.port)
  const connection = await server.connection()
  expect(known.mayBeGuest([process.pid], connection)).toBe(false)
  await first.leave()
  const second = await call('127.0.0.1', server.port, { from: connection.port, name: 'qemu-system-x86_64' })
  expect(await server.connection()).toEqual(connection)
  expect(second.pid).not.toBe(first.pid)
  expect(known.mayBeGuest([process.pid], connection)).toBe(true)
})

test.each(['qemu-system-x86_64', '.qemu-system-aarch64-wrapped', 'slirp4netns', 'passt.avx2', 'pasta'])(
  'the program %s carries the network of guests',
  async (name) => {
    const server = serve('127.0.0.1')
    await call('127.0.0.1', server.port, { name: 'python3-qemu' })
    expect(callers().mayBeGuest([], await server.connection())).toBe(false)
    await call('127.0.0.1', server.port, { name })
    expect(callers().mayBeGuest([], await server.connection())).toBe(true)
  },
)

test('a program is known by its file, whatever it calls itself', async () => {
  const server = serve('127.0.0.1')
  const file = join(folder, 'qemu-system-x86_64')
  copyFileSync(Bun.which('bash') ?? '', file)
  const script = `printf VM >/proc/$$/comm; exec 3<>/dev/tcp/127.0.0.1/${server.port}; read`
  const child = Bun.spawn([file, '-c', script], { stdin: 'pipe', argv0: 'vm' })
  open.push({ [Symbol.dispose]: () => child.kill('SIGKILL') })
  const connection = await server.connection()
  expect(await Bun.file(`/proc/${child.pid}/comm`).text()).toBe('VM\n')
  expect(callers().mayBeGuest([], connection)).toBe(true)
})

/**
 * A server that may look into no program which closed itself, and its callers one after another, which stay; it prints
 * what it holds of each. They have processes of their own, so that nothing else that runs here can be meant.
 */
const blind = `
const [peer, native, callers] = process.argv.slice(1)
const { Callers } = await import(peer)
const { callerSockets, mayHoldSocket } = await import(native)
const connections = []
let connected = () => {}
const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {}, open(socket) {
  connections.push({ address: socket.remoteAddress, port: socket.remotePort, ownPort: server.port })
  connected()
} } })
const children = []
for (const command of JSON.parse(callers)) {
  const open = new Promise((settle) => { connected = settle })
  const words = command.map((word) => word === 'PORT' ? String(server.port) : word)
  const child = Bun.spawn(words, { stdin: 'pipe', stdout: 'pipe' })
  children.push(child)
  await Promise.all([open, child.stdout.getReader().read()])
  console.log(new Callers(() => ({ callerSockets, mayHoldSocket })).mayBeGuest([], connections.at(-1)))
}
for (const child of children) child.kill('SIGKILL')
process.exit()
`

const ownProcesses = process.getuid?.() === 0 ? ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'] : []

test('of programs that may not be looked into, one that carries the network of guests may be meant', async () => {
  const paths = [join(import.meta.dir, 'peer.ts'), join(import.meta.dir, '../../native/index.ts')]
  const callers = [
    callerCommand('127.0.0.1', 'PORT', { isClosed: true }),
    callerCommand('127.0.0.1', 'PORT', { isClosed: true, name: 'passt.avx2' }),
    // From now on that one runs: the socket of another that is seen to have it is not its.
    callerCommand('127.0.0.1', 'PORT', { isClosed: true }),
    callerCommand('127.0.0.1', 'PORT'),
  ]
  const words = [...ownProcesses, ...plain, process.execPath, '-e', blind, ...paths, JSON.stringify(callers)]
  const server = Bun.spawn(words, { stdout: 'pipe', env: { ...process.env, PYTHONHOME: pythonHome } })
  open.push({ [Symbol.dispose]: () => server.kill('SIGKILL') })
  expect((await server.stdout.text()).trim().split('\n')).toEqual(['false', 'true', 'true', 'false'])
})

test('a caller on another machine is no guest of this one', async () => {
  expect(callers().mayBeGuest([process.pid], { address: '192.0.2.1', port: 1, ownPort: 2 })).toBe(false)
  expect(callers().mayBeGuest([process.pid], { address: '::ffff:192.0.2.1', port: 1, ownPort: 2 })).toBe(false)
  expect(callers().mayBeGuest([], { address: '::ffff:127.0.0.1', port: 1, ownPort: 2 })).toBe(true)
})
