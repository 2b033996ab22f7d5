import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PartName, type PrivateDesktop, startDesktop } from '@backlot/headless'
import { scratchFolder } from '../support/scratch.ts'
import { leftOf, listensOnTcp, markedProcesses, processesWith, xSocket } from '../support/traces.ts'
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

/**
 * The words of a program that leaves its session, its parent and its environment, and writes its pid to a file; the
 * program that it leaves ends when that is done.
 */
const runaway = (file: string): [string, ...string[]] => {
  const inner = `echo $$ >${file}.new; mv ${file}.new ${file}; trap '' TERM; while :; do /bin/sleep 1000; done`
  const outer = `setsid sh -c 'env -i /bin/sh -c "$0" </dev/null >/dev/null 2>&1 & :' "$0" & wait; until [ -e ${file} ]; do :; done`
  return ['sh', '-c', outer, inner]
}

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`)

const numberIn = (file: string): number => Number(readFileSync(file, 'utf8'))

test(
  'a program that left parent, session and environment ends with the desktop, halted or not',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'backlot-runaway-'))
    const files = [join(folder, 'running'), join(folder, 'halted')]
    const desktop = await startDesktop()
    const programs = await Promise.all(files.map((file) => desktop.start(runaway(file))))
    expect(await Promise.all(programs.map(({ exited }) => exited))).toEqual([0, 0])
    const pids = files.map(numberIn)
    expect(markedProcesses(desktop.folder).filter((pid) => pids.includes(pid))).toEqual([])
    process.kill(pids[1] as number, 'SIGSTOP')
    expect(pids.map(isRunning)).toEqual([true, true])
    await desktop[Symbol.asyncDispose]()
    expect(pids.map(isRunning)).toEqual([false, false])
    expect(leftOf(desktop)).toEqual([])
    rmSync(folder, { recursive: true })
  },
  patience,
)

test(
  'a program gets the streams, the folder and the environment, and gives its status',
  async () => {
    await using desktop = await startDesktop()
    const file = join(desktop.folder, 'said')
    const program = await desktop.start(['sh', '-c', `echo $$ $DISPLAY $PWD >${file}; exit 7`])
    expect(await program.exited).toBe(7)
    expect(readFileSync(file, 'utf8')).toBe(`${program.pid} ${desktop.display} ${process.cwd()}\n`)
    const endless = await desktop.start(['sleep', '1000'])
    endless.kill('SIGTERM')
    expect(await endless.exited).toBe(128 + 15)
    endless.kill('SIGTERM')
  },
  patience,
)

/** A process of its own that starts a desktop with programs on it, and says where. */
const owner = `
  import { startDesktop } from '@backlot/headless'
  const desktop = await startDesktop()
  // It leaves a file among the temporary ones when it is killed.
  Bun.spawn(['xterm'], { env: { ...desktop.env, TMPDIR: desktop.folder } })
  if (process.argv.length > 2) await (await desktop.start(process.argv.slice(1))).exited
  console.log(JSON.stringify({ folder: desktop.folder, display: desktop.display, x: desktop.pids.x_server }))
  setInterval(() => {}, 60_000)
`

const startOwner = async (...program: string[]) => {
  const child = Bun.spawn([process.execPath, '-e', owner, ...program], { cwd: import.meta.dir, stdout: 'pipe' })
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
  'a program that left parent, session and environment ends when the owner was killed',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'backlot-runaway-'))
    const file = join(folder, 'pid')
    const { child, desktop } = await startOwner(...runaway(file))
    const pid = numberIn(file)
    expect(isRunning(pid)).toBe(true)
    child.kill('SIGKILL')
    await child.exited
    await until('the desktop to be gone', () => leftOf(desktop).length === 0)
    expect(isRunning(pid)).toBe(false)
    rmSync(folder, { recursive: true })
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

/** A folder of programs to stand before the real ones on PATH, each a shell script. */
const pathWith = (scripts: Record<string, string>): string => {
  const folder = scratchFolder('programs')
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }
  return `${folder}:${process.env.PATH}`
}

test(
  'a start that is cancelled leaves nothing behind',
  async () => {
    // A runtime folder of its own: whatever carries or is named by a path in it belongs to this start.
    const home = mkdtempSync(join(tmpdir(), 'backlot-cancelled-'))
    const stop = new AbortController()
    // A window manager that is never ready.
    const PATH = pathWith({ openbox: 'exec sleep 1000' })
    const environment = { ...process.env, PATH, BACKLOT_HOME: home }
    const starting = startDesktop({ signal: stop.signal, environment })
    const ofStart = () => processesWith(`BACKLOT_HOME=${home}`)
    const desktops = () => readdirSync(join(home, 'runtime')).filter((name) => name.startsWith('desktop-'))
    const display = await until('the X server', () => {
      const [file] = existsSync(join(home, 'runtime'))
        ? desktops().map((name) => join(home, 'runtime', name, 'display'))
        : []
      const number = file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
      return number !== '' && `:${number}`
    })
    expect(ofStart()).not.toEqual([])
    stop.abort()
    expect(await starting.catch((error) => error.code)).toBe('cancelled')
    expect([desktops(), ofStart(), existsSync(xSocket(display))]).toEqual([[], [], false])
    rmSync(home, { recursive: true })
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

test.skipIf(process.getuid?.() !== 0)('a user without a name is told so, one with a name has a desktop', async () => {
  const home = scratchFolder('home')
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
})
