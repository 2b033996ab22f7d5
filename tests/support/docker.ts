/** A Docker engine of a test's own, from Debian's packages, with processes, mounts and a network that go with it. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type ListenOptions, type NetConnectOpts, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finished } from './backlot.ts'
import { librariesIn, unpacked } from './unpacked.ts'
import { until } from './until.ts'

/** Hands each connection to one address on to another. */
export const forward = (from: ListenOptions, to: NetConnectOpts): Server =>
  createServer((caller) => {
    const called = connect(to)
    caller.pipe(called).pipe(caller)
    caller.on('error', () => called.destroy())
    called.on('error', () => caller.destroy())
    caller.on('close', () => called.destroy())
    called.on('close', () => caller.destroy())
  }).listen(from)

/** A running engine; disposing of it ends its containers and removes its images. */
export interface Docker extends AsyncDisposable {
  /** Runs `docker` to its end. */
  run(...words: string[]): Promise<Finished>
  /** Runs `docker`, which has to succeed, and gives what it printed, trimmed. */
  ask(...words: string[]): Promise<string>
  /** Leads to a port that a container has on the engine's loopback: an address of this side. */
  reach(port: number): Promise<string>
  /** The name of the image that the engine has from the start. */
  readonly base: string
  /** What `DOCKER_HOST` is for it. */
  readonly host: string
  /** The words before a command that is to run where the engine's ports are. */
  readonly inside: readonly string[]
}

const finish = async (command: readonly string[], env: Record<string, string> = {}): Promise<Finished> => {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { stdout, stderr, status }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

/** Why this machine can have none; undefined where it can. The root has to be one whose changes are thrown away. */
const refusal = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'an engine of its own needs root'
  if (!/ \/ overlay|^throw-away \/ /m.test(readFileSync('/proc/mounts', 'utf8'))) return 'the root is not thrown away'
  return undefined
}

const packages = ['docker.io', 'mmdebstrap', 'slirp4netns', 'iproute2']

/** Starts one with an image of a minimal Debian; gives the reason where this machine cannot. */
export const startDocker = async (): Promise<Docker | string> => {
  const why = refusal()
  if (why !== undefined) return why
  const installed = await finish(['apt-get', 'install', '-y', '--no-install-recommends', ...packages], {
    DEBIAN_FRONTEND: 'noninteractive',
  })
  if (installed.status !== 0) return `no engine can be installed: ${lastLine(installed.stderr)}`
  // A folder of the packages' scripts, in which there is nothing.
  await rm('/run/adduser', { force: true, recursive: true })
  return startEngine({}, async (ask, folder) => {
    const tar = join(folder, 'base.tar')
    const made = await finish(['mmdebstrap', '--variant=minbase', 'bookworm', tar])
    if (made.status !== 0) throw new Error(`no base: ${lastLine(made.stderr)}`)
    await ask('import', tar, 'base')
  })
}

/** What an engine and its client consist of, for `unpacked`; what else they need every Debian has. */
const programs = ['docker.io', 'containerd', 'runc', 'libdevmapper1.02.1', 'libseccomp2']

/** The programs of an engine, fetched where they are not kept. */
export const dockerPrograms = (): Promise<string> => unpacked('docker', programs)

/** Starts one with an image `base` of this folder alone, from programs that are unpacked and not installed. */
export const startSmallDocker = async (image: string, ...settings: string[]): Promise<Docker | string> => {
  const why = refusal()
  if (why !== undefined) return why
  const folder = await dockerPrograms().catch((error: Error) => error)
  if (folder instanceof Error) return `no engine can be fetched: ${lastLine(folder.message)}`
  const variables = {
    PATH: `${join(folder, 'usr/bin')}:${join(folder, 'usr/sbin')}:${process.env.PATH}`,
    LD_LIBRARY_PATH: `${librariesIn(folder)}:${librariesIn(folder).replace('/usr/', '/')}`,
  }
  return startEngine(variables, async (ask, scratch) => {
    const tar = join(scratch, 'base.tar')
    const packed = await finish(['tar', '-C', image, '-cf', tar, '.'])
    if (packed.status !== 0) throw new Error(`no image: ${lastLine(packed.stderr)}`)
    await ask('import', ...settings.flatMap((each) => ['--change', each]), tar, 'base')
  })
}

type Ask = (...given: string[]) => Promise<string>

/** Starts the engine with these variables and makes its image. */
const startEngine = async (
  variables: Readonly<Record<string, string>>,
  makeBase: (ask: Ask, folder: string) => Promise<void>,
): Promise<Docker | string> => {
  const folder = await mkdtemp(join(tmpdir(), 'docker-'))
  const socket = join(folder, 'engine')
  const words = [
    ...[
      'dockerd',
      '--data-root',
      join(folder, 'data'),
      '--exec-root',
      join(folder, 'run'),
      '--host',
      `unix://${socket}`,
    ],
    ...['--pidfile', join(folder, 'pid'), '--iptables=false', '--ip6tables=false', '--dns', '10.0.2.3'],
  ]
  const inside = 'mount -t proc proc /proc && mount -t tmpfs fresh /run && ip link set lo up && "$@" & wait'
  const isolated = [
    'unshare',
    '--mount',
    '--pid',
    '--net',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    inside,
    'sh',
    ...words,
  ]
  const log = join(folder, 'log')
  const env = { ...process.env, ...variables }
  const engine = Bun.spawn(isolated, { env, stdin: 'ignore', stdout: Bun.file(log), stderr: Bun.file(log) })
  const helpers: Bun.Subprocess[] = []
  const servers: Server[] = []
  const end = async () => {
    for (const server of servers) server.close()
    for (const child of [...helpers, engine]) child.kill('SIGKILL')
    await Promise.all([...helpers, engine].map((child) => child.exited))
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
  const first = await until('the first process of the engine', () => {
    const children = `/proc/${engine.pid}/task/${engine.pid}/children`
    return (existsSync(children) && readFileSync(children, 'utf8').trim()) || undefined
  })
  helpers.push(
    Bun.spawn(['slirp4netns', '--configure', '--disable-host-loopback', first, 'tap0'], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    }),
  )
  const run = (...given: string[]) =>
    finish(['docker', '--host', `unix://${socket}`, ...given], { ...variables, DOCKER_BUILDKIT: '0' })
  const ask: Ask = async (...given) => {
    const { status, stdout, stderr } = await run(...given)
    if (status === 0) return stdout.trim()
    throw new Error(`docker ${given.join(' ')}: ${stdout.slice(-2_000)} ${stderr}`)
  }
  try {
    await until('the engine', async () => engine.exitCode !== null || (await run('info')).status === 0, 60_000)
    if (engine.exitCode !== null) throw new Error(lastLine(readFileSync(log, 'utf8')))
    await makeBase(ask, folder)
  } catch (error) {
    const why = `the engine does not start here: ${(error as Error).message}`
    await end()
    return why
  }
  return {
    base: 'base',
    host: `unix://${socket}`,
    inside: ['nsenter', `--net=/proc/${first}/ns/net`],
    run,
    ask,
    async reach(port) {
      const path = join(folder, `port-${port}`)
      const script = join(import.meta.dir, 'fixtures/forward.ts')
      const command = ['nsenter', `--net=/proc/${first}/ns/net`, process.execPath, script, path, String(port)]
      helpers.push(Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }))
      await until('the way to the port', () => existsSync(path))
      const server = forward({ host: '127.0.0.1', port: 0 }, { path })
      servers.push(server)
      await until('the port', () => server.listening)
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    [Symbol.asyncDispose]: end,
  }
}
