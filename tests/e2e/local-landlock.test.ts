/** Sandboxes where namespaces are refused: what Landlock promises is tried from inside, and what it does not is told. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasLandlock } from '@backlot/native'
import { Sandbox } from '@backlot/sdk'
import { runBacklot } from '../support/backlot.ts'
import {
  attemptInside,
  callersWithoutNamespaces,
  homeOf,
  type Info,
  runtimesIn,
  shellInside,
  type TestHome,
} from '../support/local.ts'
import { scratchFolder } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const refused = 'PermissionError'

const codeAndText = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 'done',
    ({ code, message }) => [code, message],
  )

/** A program of the same user, outside of the sandbox, that listens on a socket and has a secret in its environment. */
const startNeighbour = async (home: TestHome, socket: string) => {
  const python = [
    'import socket, sys',
    's = socket.socket(socket.AF_UNIX)',
    `s.bind("${socket}")`,
    's.listen()',
    'print("ready", flush=True)',
    'sys.stdin.read()',
  ]
  const child = Bun.spawn([...home.as, 'python3', '-c', python.join('\n')], {
    env: { ...home.environment, SECRET: 'of the neighbour' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  await child.stdout.getReader().read()
  return child
}

/** What a sandbox has outside of its folder, and its first process, by their paths. */
const leftOf = (home: TestHome, { name }: Info) => {
  const [runtime = ''] = runtimesIn(home)
  const { number } = JSON.parse(readFileSync(join(runtime, 'x-server.json'), 'utf8')) as { number: string }
  const { init } = JSON.parse(readFileSync(join(home.sandboxes, name, 'run.json'), 'utf8')) as { init: { pid: number } }
  const paths = [runtime, `/tmp/.X11-unix/X${number}`, `/tmp/.X${number}-lock`, `/proc/${init.pid}`]
  return { number, paths, now: () => paths.filter((path) => existsSync(path)) }
}

test.each(callersWithoutNamespaces)(
  '%s gets a desktop that is kept to its files by Landlock, once it is accepted',
  async (caller) => {
    await using home = homeOf(caller)
    const { levels } = (await home.run('levels')).output as {
      levels: { level: string; works: boolean; reason: string }[]
    }
    const level = levels.find((each) => each.level === 'landlock')
    expect(level?.works).toBe(hasLandlock())
    if (!hasLandlock()) {
      expect(level?.reason).toContain('Linux 6.12')
      return
    }
    // Nobody gets it unasked.
    const unasked = (await home.run('start', '--network', 'internet')).output as {
      error: { code: string; message: string }
    }
    expect(unasked.error.code).toBe('runtime_unavailable')
    expect(unasked.error.message).toContain('--isolation landlock')
    const wanted = ['start', '--isolation', 'landlock', '--name', 'locked']
    for (const words of [
      ['--network', 'none'],
      ['--network', 'loopback'],
      ['--mount', '/usr:/mnt/usr'],
      ['--disk-gb', '1'],
    ]) {
      expect((await home.run(...wanted, ...words)).output).toMatchObject({ error: { code: 'unsupported' } })
    }

    const info = (await home.ask(...wanted)) as Info
    expect(info).toMatchObject({
      isolation: 'landlock',
      network: 'internet',
      warnings: [expect.stringContaining('no namespaces')],
    })
    const { number, paths, now } = leftOf(home, info)
    expect(now()).toEqual(paths)
    expect(await shellInside(info, 'grep -h -e CapEff -e NoNewPrivs /proc/self/status')).toBe(
      'CapEff:\t0000000000000000\nNoNewPrivs:\t1\n',
    )

    // Files: only those that are listed.
    const secret = join(scratchFolder('secret'), 'file')
    writeFileSync(secret, 'secret', { mode: 0o644 })
    const files = [
      secret,
      '/etc/shadow',
      join(home.sandboxes, 'locked/key'),
      join(home.sandboxes, 'locked/record.json'),
    ]
    for (const path of files) expect([path, await attemptInside(info, `open('${path}')`)]).toEqual([path, refused])
    for (const path of ['/tmp', '/root', '/home', home.folder]) {
      expect([path, await attemptInside(info, `os.listdir('${path}')`)]).toEqual([path, refused])
    }
    for (const path of ['/tmp/new', '/dev/shm/new', '/usr/bin/new', '/etc/passwd', '/proc/self/oom_score_adj']) {
      expect([path, await attemptInside(info, `open('${path}', 'w')`)]).toEqual([path, refused])
    }
    // Terminals of the same user cannot be told from its own: the server has none to give either.
    expect(await attemptInside(info, 'os.openpty()')).toBe(refused)
    {
      await using sandbox = await Sandbox.connect('locked', { httpUrl: info.api_url, apiKey: info.api_key })
      expect(await codeAndText(sandbox.terminal.create())).toEqual([
        'unsupported',
        expect.stringContaining('/dev/ptmx'),
      ])
      expect(await codeAndText(sandbox.tunnel.forward(8_080))).toEqual([
        'unsupported',
        expect.stringContaining('127.0.0.1'),
      ])
      expect(await codeAndText(sandbox.tunnel.forward(8_080, { wait: true }))).toEqual([
        'unsupported',
        expect.anything(),
      ])
    }
    expect(await shellInside(info, 'echo kept >note; cat note; pwd')).toBe(
      `kept\n${join(home.sandboxes, 'locked/files/home')}\n`,
    )

    // Processes: seen, and neither signalled nor looked into, though they are of the same user.
    const name = `backlot-landlock-${process.pid}`
    await using neighbour = await startNeighbour(home, `\\0${name}`)
    expect(await attemptInside(info, `os.kill(${neighbour.pid}, 0)`)).toBe(refused)
    expect(await attemptInside(info, `open('/proc/${neighbour.pid}/environ').read()`)).toBe(refused)
    expect(await attemptInside(info, `os.readlink('/proc/${neighbour.pid}/fd/0')`)).toBe(refused)
    // Sockets without a path, and services on loopback, ours among them.
    expect(await attemptInside(info, `connect(socket.AF_UNIX, '\\0${name}')`)).toBe(refused)
    using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('host') })
    for (const port of [server.port, new URL(info.api_url).port]) {
      expect(await attemptInside(info, `connect(socket.AF_INET, ('127.0.0.1', ${port}))`)).toBe(refused)
    }
    // The display is its own, and opened by its key alone.
    expect(await shellInside(info, 'echo $DISPLAY; xdpyinfo | grep -c dimensions')).toBe(`:${number}\n1\n`)
    expect(await shellInside(info, 'XAUTHORITY=/dev/null xdpyinfo 2>&1 | grep -c "unable to open"')).toBe('1\n')
    neighbour.stdin.end()

    await home.ask('suspend', 'locked')
    expect(readFileSync(`${paths[3]}/stat`, 'latin1')).toMatch(/\) T /)
    expect(await home.ask('resume', 'locked')).toMatchObject({ status: 'running', isolation: 'landlock' })
    await home.ask('stop', 'locked')
    expect(now()).toEqual([])
    // Its programs leave nothing that is read before the next run is confined.
    const again = (await home.ask('resume', 'locked')) as Info
    expect(await shellInside(again, 'cat note')).toBe('kept\n')
    const left = leftOf(home, again)
    const { supervisor } = JSON.parse(readFileSync(join(home.sandboxes, 'locked/run.json'), 'utf8'))
    process.kill(supervisor.pid, 'SIGKILL')
    await until('its server to end', () => !existsSync(left.paths[3] ?? ''))
    await home.ask('delete', 'locked')
    expect(left.now()).toEqual([])
  },
  60_000,
)

test('where a socket leads out that this user alone may call, the level does not work', async () => {
  const [, caller] = callersWithoutNamespaces
  if (caller === undefined || !hasLandlock()) return
  await using home = homeOf(caller)
  const path = join(home.folder, 'bus')
  await using other = await startNeighbour(home, path)
  const { levels } = (await home.run('levels')).output as {
    levels: { level: string; works: boolean; reason: string }[]
  }
  expect(levels.find((each) => each.level === 'landlock')).toMatchObject({
    works: false,
    reason: expect.stringContaining(path),
  })
  other.stdin.end()
})

test('a program whose supervisor is dead makes nothing', async () => {
  const runtime = join(scratchFolder('confined'), 'runtime')
  const confinement = { supervisor: 1, runtime, size: '640x480', folder: '/', variables: {} }
  const rights = { readable: ['/'], writable: [], ports: [] }
  const words = ['local', 'confined', 'mark', JSON.stringify({ ...confinement, ...rights }), '/bin/true']
  expect([(await runBacklot(words)).status, existsSync(runtime)]).toEqual([1, false])
})
