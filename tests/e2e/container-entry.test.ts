import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Fields, frameOf, post } from '../support/computer.ts'
import { startContainer, type TestContainer } from '../support/container.ts'
import { until } from '../support/until.ts'

// The recipe's session with a panel that is installed wherever tests run, and with a program that cannot run.
const recipe = join(import.meta.dir, '../../images/linux-desktop/files')
const session = join(import.meta.dir, '../../target/container-session')
const api = 'http://127.0.0.1:8000'
const view = 'http://127.0.0.1:6080'

const program = (name: string, text: string) => {
  mkdirSync(join(session, 'programs'), { recursive: true })
  writeFileSync(join(session, 'programs', name), `#!/bin/sh\n${text}\n`)
  chmodSync(join(session, 'programs', name), 0o755)
}

const phase = async (): Promise<unknown> =>
  fetch(`${api}/status`).then(
    async (answer) => ((await answer.json()) as Fields).phase,
    () => undefined,
  )
const isReady = () => until('the desktop to be ready', async () => (await phase()) === 'ready', 60_000)
const ask = async (command: string, params: Fields = {}) => frameOf(await post(api, { command, params }))

beforeAll(() => {
  for (const file of ['menu.xml', 'wallpaper.jpg']) {
    mkdirSync(session, { recursive: true })
    copyFileSync(join(recipe, 'usr/share/backlot/session', file), join(session, file))
  }
  program('panel', 'exec xterm -name panel -T panel -geometry 20x2+0-0')
  program('broken', 'exit 3')
})

describe('without a key', () => {
  let container: TestContainer

  beforeAll(async () => {
    container = await startContainer({ BACKLOT_DESKTOP_SESSION: session })
    await isReady()
  })

  afterAll(() => container[Symbol.asyncDispose]())

  test('both ports answer, and the second begins with the view', async () => {
    const status = (await (await fetch(`${view}/status`)).json()) as { features: string[] }
    expect(status).toMatchObject({ phase: 'ready', server: 'backlot' })
    for (const feature of ['display', 'input', 'accessibility', 'windows', 'pty', 'mcp', 'view']) {
      expect(status.features).toContain(feature)
    }
    const page = await fetch(view)
    expect([page.status, page.url]).toEqual([200, `${view}/view`])
    expect(await page.text()).toContain('<html')
    expect(container.log()).toContain('open: whoever reaches')
  })

  test('nobody is root, nothing but the home and temporary folders can be written to', async () => {
    const shell = async (command: string) => ask('run_command', { command })
    const { stdout } = await shell('id -u; grep -E "Cap(Prm|Bnd)" /proc/self/status; pwd; cat /proc/1/comm')
    const none = '0'.repeat(16)
    expect(stdout).toBe(`4321\nCapPrm:\t${none}\nCapBnd:\t${none}\n/home\nentry\n`)
    expect((await shell('touch /etc/x /usr/x')).stderr).toContain('Read-only file system')
    expect(await shell('touch ~/x /tmp/x && ls -A ~')).toMatchObject({ return_code: 0 })
  })

  test('the desktop shows the picture, the panel and the menu', async () => {
    await container.process(/^xterm$/)
    const screen = async () => String((await ask('screenshot')).image_data)
    // A picture takes more bytes than an empty screen.
    const before = await until('the picture', async () => {
      const taken = await screen()
      return taken.length > 100_000 && taken
    })
    await ask('right_click', { x: 300, y: 300 })
    await until('the menu', async () => (await screen()) !== before)
    await ask('press_key', { key: 'Escape' })
  })

  test('a program of the session that dies comes back, one that dies at once after ever longer pauses', async () => {
    const { pid } = await container.process(/^xterm$/)
    process.kill(pid, 'SIGKILL')
    await container.process(/^xterm$/, pid)
    await until('three deaths', () => /programs\/broken ended with status 3; .* in 1000 ms/.test(container.log()))
    expect(container.log().match(/broken ended/g)?.length).toBeLessThan(12)
  })

  const xServer = /^(Xtigervnc|Xvnc|Xvfb)$/

  test('the window manager comes back alone when it is killed', async () => {
    const screen = await container.process(xServer)
    const panel = await container.process(/^xterm$/)
    const { pid } = await container.process(/^openbox$/)
    process.kill(pid, 'SIGKILL')
    await container.process(/^openbox$/, pid)
    expect((await container.process(xServer)).pid).toBe(screen.pid)
    expect((await container.process(/^xterm$/)).pid).toBe(panel.pid)
  })

  for (const [part, name] of [
    ['the X server', xServer],
    ['the session bus', /^dbus-daemon$/],
    ['the computer server', /^backlot$/],
  ] as const) {
    test(`a new desktop comes when ${part} is killed`, async () => {
      const [screen, server] = [await container.process(xServer), await container.process(/^backlot$/)]
      process.kill((await container.process(name)).pid, 'SIGKILL')
      await container.process(xServer, screen.pid)
      await isReady()
      await container.process(/^xterm$/)
      expect(await ask('get_screen_size')).toMatchObject({ success: true })
      expect((await container.process(/^backlot$/)).pid === server.pid).toBe(part !== 'the computer server')
      await until('nobody unburied', () => container.processes().every(({ state }) => state !== 'Z'))
    })
  }

  test('SIGTERM ends all of it', async () => {
    const begun = performance.now()
    expect(await container.end()).toBe(0)
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(container.processes()).toEqual([])
  })
})

test('with a key in the environment both ports ask for it, and it is in no log', async () => {
  await using container = await startContainer({
    BACKLOT_DESKTOP_SESSION: session,
    BACKLOT_COMPUTER_KEY: 'open-sesame',
  })
  await isReady()
  for (const url of [`${api}/commands`, `${view}/commands`, `${view}/`]) {
    expect((await fetch(url)).status).toBe(401)
    expect((await fetch(url, { headers: { 'X-API-Key': 'open-sesame' } })).status).toBe(200)
  }
  // One link, which names the machine as those outside of the container do.
  const [, link = ''] = /view, for one browser, once: (\S+)/.exec(container.log()) ?? []
  expect(link).toStartWith('http://localhost:6080/view?link=')
  expect((await fetch(link)).status).toBe(200)
  expect(container.log()).not.toContain('open-sesame')
  expect(container.log()).not.toContain('open: whoever')
})

test('with a secret file the key is read from it; one that cannot be read ends the container', async () => {
  const file = join(session, 'secret')
  writeFileSync(file, 'from-a-file\n', { mode: 0o644 })
  {
    await using _container = await startContainer({ BACKLOT_DESKTOP_SESSION: session, BACKLOT_COMPUTER_KEY_FILE: file })
    await isReady()
    expect((await fetch(`${api}/commands`)).status).toBe(401)
    expect((await fetch(`${view}/commands`, { headers: { 'X-API-Key': 'from-a-file' } })).status).toBe(200)
  }
  chmodSync(file, 0o600)
  const unreadable = { BACKLOT_DESKTOP_SESSION: session, BACKLOT_COMPUTER_KEY_FILE: file }
  const outcome = await startContainer(unreadable).then(
    async (container) => `${await container.exited}: ${container.log()}`,
    (error: unknown) => String(error),
  )
  expect(outcome).toContain('cannot be read')
})
