import { expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PartName, type PrivateDesktop, startDesktop } from '@backlot/headless'
import { leftOf, listensOnTcp, markedProcesses } from '../support/traces.ts'
import { until } from '../support/until.ts'

const patience = 60_000

const ask = async (desktop: PrivateDesktop, ...command: [string, ...string[]]): Promise<string> => {
  const child = Bun.spawn(command, { env: { ...desktop.env }, stdout: 'pipe', stderr: 'ignore' })
  return child.stdout.text()
}

test(
  'a desktop has all its parts when it is ready',
  async () => {
    await using desktop = await startDesktop({ size: { width: 900, height: 700 } })
    expect(await ask(desktop, 'xdotool', 'getdisplaygeometry')).toBe('900 700\n')
    expect(await ask(desktop, 'xprop', '-root', '_NET_SUPPORTING_WM_CHECK')).toContain('window id # 0x')
    const status = ['call', '--session', '-d', 'org.a11y.Bus', '-o', '/org/a11y/bus', '-m'] as const
    expect(await ask(desktop, 'gdbus', ...status, 'org.a11y.Bus.GetAddress')).toContain(join(desktop.folder, 'run'))
    const property = ['org.freedesktop.DBus.Properties.Get', 'org.a11y.Status', 'IsEnabled'] as const
    expect(await ask(desktop, 'gdbus', ...status, ...property)).toBe('(<true>,)\n')
  },
  patience,
)

test(
  'nobody else reaches a desktop',
  async () => {
    await using desktop = await startDesktop()
    const { XAUTHORITY: _, ...keyless } = desktop.env
    const stranger = Bun.spawn(['xdotool', 'getmouselocation'], { env: { ...keyless, XAUTHORITY: '/dev/null' } })
    expect(await stranger.exited).not.toBe(0)
    expect(markedProcesses(desktop.folder).filter(listensOnTcp)).toEqual([])
    expect(statSync(desktop.folder).mode & 0o777).toBe(0o700)
    expect(statSync(String(desktop.variables.XAUTHORITY)).mode & 0o777).toBe(0o600)
    expect(statSync(String(desktop.variables.XDG_RUNTIME_DIR)).mode & 0o777).toBe(0o700)
  },
  patience,
)

test(
  'OpenGL is offered only on demand',
  async () => {
    await using plain = await startDesktop()
    await using glx = await startDesktop({ glx: true })
    expect(await ask(plain, 'xdpyinfo')).not.toContain('GLX')
    expect(await ask(glx, 'xdpyinfo')).toContain('GLX')
  },
  patience,
)

test(
  'several desktops start at once, each on a display of its own',
  async () => {
    const desktops = await Promise.all(Array.from({ length: 4 }, () => startDesktop()))
    expect(new Set(desktops.map((desktop) => desktop.display)).size).toBe(4)
    await Promise.all(desktops.map((desktop) => desktop[Symbol.asyncDispose]()))
    expect(desktops.flatMap(leftOf)).toEqual([])
  },
  patience,
)

test(
  'a desktop ends everything on it, and ends but once',
  async () => {
    const desktop = await startDesktop()
    // A session of its own, ignored signals and a parent that is gone keep no process from its desktop's end.
    const stubborn = "trap '' HUP INT TERM; setsid sh -c 'while :; do sleep 1000; done' & echo started"
    expect(await ask(desktop, 'sh', '-c', `(${stubborn}) | head -1`)).toBe('started\n')
    expect(leftOf(desktop)).not.toEqual([])
    await Promise.all([desktop[Symbol.asyncDispose](), desktop[Symbol.asyncDispose]()])
    expect(leftOf(desktop)).toEqual([])
    expect(await desktop.exited).toEqual({ part: null, how: '' })
  },
  patience,
)

const parts: readonly PartName[] = ['x_server', 'window_manager', 'session_bus', 'accessibility_bus']

for (const part of parts) {
  test(
    `the end of the ${part} is the end of the desktop, which says so`,
    async () => {
      await using desktop = await startDesktop()
      process.kill(desktop.pids[part], 'SIGKILL')
      expect(await desktop.exited).toEqual({ part, how: 'signal SIGKILL' })
      expect(leftOf(desktop)).toEqual([])
    },
    patience,
  )
}

/** A process of its own that starts a desktop with a program on it, and says where. */
const owner = `
  import { startDesktop } from '@backlot/headless'
  const desktop = await startDesktop()
  Bun.spawn(['xterm'], { env: desktop.env })
  console.log(JSON.stringify({ folder: desktop.folder, display: desktop.display, x: desktop.pids.x_server }))
  setInterval(() => {}, 60_000)
`

const startOwner = async () => {
  const child = Bun.spawn([process.execPath, '-e', owner], { cwd: import.meta.dir, stdout: 'pipe' })
  for await (const bytes of child.stdout) {
    return {
      child,
      desktop: JSON.parse(new TextDecoder().decode(bytes)) as { folder: string; display: string; x: number },
    }
  }
  throw new Error('the owner said nothing')
}

test(
  'nothing is left of a desktop whose owner was killed',
  async () => {
    const { child, desktop } = await startOwner()
    child.kill('SIGKILL')
    await child.exited
    await until('the desktop to be gone', () => leftOf(desktop).length === 0)
  },
  patience,
)

test(
  'the next start ends a desktop whose owner and guardian were killed',
  async () => {
    const { child, desktop } = await startOwner()
    const guardian = Bun.spawnSync(['pgrep', '-P', String(child.pid), '-f', 'backlot-desktop-guardian'])
    process.kill(Number(guardian.stdout.toString()), 'SIGKILL')
    child.kill('SIGKILL')
    await child.exited
    expect(leftOf(desktop)).not.toEqual([])
    await using _next = await startDesktop()
    expect(leftOf(desktop)).toEqual([])
  },
  patience,
)

test(
  'a start that is cancelled leaves nothing behind',
  async () => {
    const stop = new AbortController()
    const starting = startDesktop({ signal: stop.signal })
    stop.abort()
    expect(await starting.catch((error) => error.code)).toBe('cancelled')
  },
  patience,
)

test('a missing program is named with its package', async () => {
  const error = await startDesktop({ environment: { HOME: '/tmp', PATH: '/nonexistent' } }).catch((error) => error)
  expect(error.code).toBe('missing_program')
  expect(error.message).toContain('apt-get install tigervnc-standalone-server dbus libglib2.0-bin openbox')
})

test('a runtime folder too long for sockets is refused', async () => {
  const error = await startDesktop({
    environment: { ...process.env, BACKLOT_HOME: `/tmp/${'x'.repeat(80)}` },
  }).catch((error) => error)
  expect(error.code).toBe('invalid_environment')
})

/** A folder of programs to stand before the real ones on PATH, each a shell script. */
const pathWith = (scripts: Record<string, string>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-programs-'))
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }
  return `${folder}:${process.env.PATH}`
}

test('a part that ends before it is ready is named, with its last words', async () => {
  const PATH = pathWith({ Xtigervnc: 'echo no screen for you >&2; exit 3' })
  const error = await startDesktop({ environment: { ...process.env, PATH } }).catch((error) => error)
  expect(error.code).toBe('desktop_not_started')
  expect(error.message).toMatch(/x_server .*Xtigervnc.* ended with status 3 .* no screen for you/)
})

test('a part that keeps silent is not waited for without end', async () => {
  const PATH = pathWith({ openbox: 'exec sleep 1000' })
  const error = await startDesktop({ environment: { ...process.env, PATH }, timeoutMs: 1500 }).catch((error) => error)
  expect(error.code).toBe('desktop_not_started')
  expect(error.message).toContain('1500 ms')
})

test.skipIf(process.getuid?.() !== 0)(
  'a user without a name is told so, one with a name has a desktop',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'backlot-home-'))
    chmodSync(home, 0o777)
    const asUser = async (uid: number) => {
      const identity = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'] as const
      const script = `
      import { startDesktop } from '@backlot/headless'
      const desktop = await startDesktop().catch((error) => console.log(error.code))
      if (desktop) console.log('ready')
      await desktop?.[Symbol.asyncDispose]()
    `
      const child = Bun.spawn([...identity, process.execPath, '-e', script], {
        cwd: import.meta.dir,
        env: { PATH: process.env.PATH ?? '', HOME: home, BACKLOT_HOME: join(home, String(uid)) },
        stdout: 'pipe',
        stderr: 'inherit',
      })
      return (await child.stdout.text()).trim()
    }
    expect(await asUser(54_321)).toBe('user_without_name')
    expect(await asUser(65_534)).toBe('ready')
  },
  60_000,
)
