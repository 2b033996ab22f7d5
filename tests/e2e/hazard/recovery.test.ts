import { beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { accessibilityBus } from '../../support/accessibility-bus.ts'
import { type Application, startGtk3 } from '../../support/applications.ts'
import { privateDesktop, type TestDesktop } from '../../support/desktop.ts'
import { driverCommand } from '../../support/driver.ts'
import { middleOf, type Target } from '../../support/look.ts'
import { connect, type McpClient } from '../../support/mcp-client.ts'
import { until } from '../../support/until.ts'
import { displayState } from '../../support/witness/index.ts'

const on = privateDesktop()
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
})

const clicked = async (client: McpClient, into: Target, at: { x: number; y: number }, by = app): Promise<void> => {
  const mark = by.journal.mark()
  await client.ask('click', { ...into, ...at })
  await by.journal.waitFor('the click', ({ type }) => type === 'clicked', mark)
}

/** Pid of the process of that name on the desktop. */
const programOf = async (desktop: TestDesktop, name: string): Promise<number> => {
  const { stdout } = await desktop.run(['pgrep', '-x', name])
  const mark = `BACKLOT_DESKTOP=${desktop.desktop.env.BACKLOT_DESKTOP}`
  const pid = stdout
    .split('\n')
    .filter(Boolean)
    .map(Number)
    .find((each) => readFileSync(`/proc/${each}/environ`, 'latin1').split('\0').includes(mark))
  if (pid === undefined) throw new Error(`no ${name} runs on the desktop`)
  return pid
}

const drivers = async (desktop: TestDesktop): Promise<string[]> =>
  (await displayState(desktop)).masters.filter((name) => name.startsWith('backlot '))

test('an application that stands still costs a bounded time, and no other call waits for it', async () => {
  const other = await startGtk3(on(), 'controls', { title: 'Backlot lively', geometry: '420x480+600+100' })
  const into = { pid: other.pid, window_id: other.windowId }
  await using client = await connect(on())
  const button = await middleOf(client, target, 'Press me')
  const { element_index } = (
    await client.ask<{ elements: { label: string; element_index: number }[] }>('get_window_state', { ...target })
  ).elements.find(({ label }) => label === 'Press me') ?? { element_index: -1 }
  process.kill(app.pid, 'SIGSTOP')
  const stuck: Promise<unknown>[] = []
  try {
    let looks = 0
    const seen = () => {
      looks += 1
    }
    for (let call = 0; call < 8; call += 1) {
      stuck.push(client.call('get_window_state', { ...target, timeout_ms: 60_000 }).finally(seen))
      stuck.push(client.call('click', { ...target, element_index }))
    }
    // Another client's application is looked at and clicked while all those calls wait.
    await using lively = await connect(on())
    const place = await middleOf(lively, into, 'Press me')
    await clicked(lively, into, place, other)
    expect(looks).toBe(0)
    const look = await client.ask('get_window_state', { ...target, timeout_ms: 100 })
    expect(look).toMatchObject({ element_count: 0, partial: expect.stringContaining('did not answer within 100 ms') })
    expect(looks).toBe(0)
  } finally {
    process.kill(app.pid, 'SIGCONT')
  }
  await Promise.all(stuck)
  await clicked(client, target, button)
})

test('a window manager that stands still keeps no click from arriving', async () => {
  await using client = await connect(on())
  const button = await middleOf(client, target, 'Press me')
  const manager = await programOf(on(), 'openbox')
  process.kill(manager, 'SIGSTOP')
  try {
    await clicked(client, target, button)
    await client.ask('list_windows')
  } finally {
    process.kill(manager, 'SIGCONT')
  }
  await clicked(client, target, button)
})

/** An X server and a session bus of the test's own, at addresses that a second start has too. */
const bareDisplay = async () => {
  const programs: Bun.Subprocess[] = []
  const bus = on().path('bus')
  const startServer = async (...display: string[]): Promise<string> => {
    const words = [...display, '-displayfd', '1', '-ac', '-nolisten', 'tcp', '-screen', '0', '800x700x24']
    const server = Bun.spawn(['Xvfb', ...words], { stdout: 'pipe', stderr: 'ignore' })
    programs.push(server)
    let said = ''
    for await (const bytes of server.stdout) {
      said += new TextDecoder().decode(bytes)
      if (said.endsWith('\n')) return `:${said.trim()}`
    }
    throw new Error('Xvfb ended')
  }
  const startBus = async () => {
    const daemon = Bun.spawn(['dbus-daemon', '--session', '--nofork', `--address=unix:path=${bus}`], {
      env: { ...on().env, DISPLAY: display },
      stderr: 'ignore',
    })
    programs.push(daemon)
    await until('the bus', () => existsSync(bus))
    return daemon
  }
  const display = await startServer()
  const sessionBus = await startBus()
  const desktop = on().with({
    DISPLAY: display,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}`,
    AT_SPI_BUS_ADDRESS: '',
    XAUTHORITY: '/dev/null',
  })
  return {
    desktop,
    endServer: async () => {
      programs[0]?.kill('SIGKILL')
      await programs[0]?.exited
    },
    startServerAgain: () => startServer(display),
    endBus: async () => {
      sessionBus.kill('SIGKILL')
      await sessionBus.exited
      rmSync(bus, { force: true })
    },
    startBusAgain: startBus,
    async [Symbol.asyncDispose]() {
      await desktop.run(driverCommand('stop'))
      for (const program of programs) {
        // Not SIGKILL: an X server removes its socket itself.
        program.kill()
        await program.exited
      }
    },
  }
}

test('a lost X server is said, by looking and by acting, and a new one is used by the same driver', async () => {
  await using bare = await bareDisplay()
  const first = await startGtk3(bare.desktop, 'controls')
  await using client = await connect(bare.desktop)
  const into = { pid: first.pid, window_id: first.windowId }
  const button = await middleOf(client, into, 'Press me')
  await clicked(client, into, button, first)
  const { pid } = JSON.parse((await bare.desktop.run(driverCommand('status'))).stdout)
  await bare.endServer()
  const codes = ['display_lost', 'display_unavailable']
  expect(codes).toContain(String((await client.call('click', { ...into, ...button })).structured.code))
  expect(codes).toContain(String((await client.call('list_windows')).structured.code))
  await bare.startServerAgain()
  const second = await startGtk3(bare.desktop, 'controls', { title: 'Backlot again' })
  const anew = { pid: second.pid, window_id: second.windowId }
  await clicked(client, anew, await middleOf(client, anew, 'Press me'), second)
  expect(JSON.parse((await bare.desktop.run(driverCommand('status'))).stdout).pid).toBe(pid)
  expect(await drivers(bare.desktop)).toHaveLength(2)
})

test('a lost session bus and accessibility bus are said, and new ones are used by the same driver', async () => {
  await using bare = await bareDisplay()
  const first = await startGtk3(bare.desktop, 'controls')
  await using client = await connect(bare.desktop)
  const into = { pid: first.pid, window_id: first.windowId }
  const button = await middleOf(client, into, 'Press me')
  await bare.endBus()
  await clicked(client, into, button, first)
  const look = await client.call('get_window_state', { ...into, timeout_ms: 2_000 })
  if (look.isError) expect(String(look.structured.code)).toMatch(/^(accessibility_|not_accessible)/)
  await client.ask('get_window_state', { ...into, capture_mode: 'vision' })
  await bare.startBusAgain()
  const second = await startGtk3(bare.desktop, 'controls', { title: 'Backlot again' })
  const anew = { pid: second.pid, window_id: second.windowId }
  await until('the tree of an application on the new bus', async () => {
    const { isError, text } = await client.call('get_window_state', { ...anew, capture_mode: 'ax' })
    return !isError && text.includes('Press me')
  })
})

test('a lost accessibility bus is said, pixels go on, and the next bus is used by the same driver', async () => {
  await using bare = await bareDisplay()
  const first = await startGtk3(bare.desktop, 'controls')
  await using client = await connect(bare.desktop)
  const into = { pid: first.pid, window_id: first.windowId }
  const button = await middleOf(client, into, 'Press me')
  const session = bare.desktop.env.DBUS_SESSION_BUS_ADDRESS ?? ''
  const bus = await accessibilityBus(on(), session)
  expect(bus.length).toBeGreaterThanOrEqual(2)
  for (const pid of bus) process.kill(pid, 'SIGKILL')
  await until('the bus to be gone', () => bus.every((pid) => !existsSync(`/proc/${pid}/exe`)))

  // What is done by pixels needs no bus; the application does not join the next one by itself.
  await clicked(client, into, button, first)
  await client.ask('get_window_state', { ...into, capture_mode: 'vision' })
  const look = await until('the failure', async () => {
    const answer = await client.call('get_window_state', { ...into, capture_mode: 'ax', timeout_ms: 2_000 })
    return answer.isError && answer
  })
  expect(look.structured.code).toBe('not_accessible')
  expect(look.text).toContain('use the screenshot and pixel coordinates')
  await clicked(client, into, button, first)

  const second = await startGtk3(bare.desktop, 'controls', { title: 'Backlot again' })
  const anew = { pid: second.pid, window_id: second.windowId }
  await until('the tree of an application on the next bus', async () => {
    const { isError, text } = await client.call('get_window_state', { ...anew, capture_mode: 'ax' })
    return !isError && text.includes('Press me')
  })
})

test('nothing of the drivers is left on the display afterwards', async () => {
  await on().run(driverCommand('stop'))
  expect(await drivers(on())).toEqual([])
})
