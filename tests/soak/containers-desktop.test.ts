import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Browser, openBrowser } from '../support/browser.ts'
import { type Fields, frameOf, post } from '../support/computer.ts'
import { processesOf } from '../support/container.ts'
import { type Docker, startDocker } from '../support/docker.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dir, '../..')
const name = 'desktop'
// The user of the image.
const uid = 1000

/** The words after `docker` of the README's line for a read-only root, which a person copies. */
const runLine = async (): Promise<string[]> => {
  const readme = await Bun.file(join(root, 'docker/desktop/README.md')).text()
  const [, line = ''] = /```sh\ndocker (run [^`]*--read-only[^`]*)```/.exec(readme) ?? []
  return line.replaceAll(/\\\n/g, ' ').trim().split(/\s+/)
}

const started = await startDocker()
const docker = typeof started === 'string' ? undefined : (started as Docker)
if (docker === undefined) console.log(`skipped: ${String(started)}`)

let api = ''
let view = ''
let browser: Browser

const phase = async (): Promise<unknown> =>
  fetch(`${api}/status`).then(
    async (answer) => ((await answer.json()) as Fields).phase,
    () => undefined,
  )
const isReady = () => until('the desktop to be ready', async () => (await phase()) === 'ready', 60_000)
const ask = async (command: string, params: Fields = {}) => frameOf(await post(api, { command, params }))
const pidOf = (program: RegExp, before?: number) =>
  until(`a process ${program}`, () =>
    processesOf(uid).find((each) => program.test(each.name) && each.state !== 'Z' && each.pid !== before),
  ).then(({ pid }) => pid)

beforeAll(async () => {
  if (docker === undefined) return
  const build = ['--network', 'host', '--build-arg', `BASE=${docker.base}`, '--tag', 'backlot-desktop']
  await docker.ask('build', ...build, '--file', join(root, 'docker/desktop/Dockerfile'), root)
  console.log(
    `size of the image: ${await docker.ask('image', 'inspect', '--format', '{{.Size}}', 'backlot-desktop')} bytes`,
  )
  await docker.ask(...(await runLine()))
  api = await docker.reach(8000)
  view = await docker.reach(6080)
  await isReady()
  browser = await openBrowser(['--window-size=1360,920'])
}, 540_000)

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await docker?.[Symbol.asyncDispose]()
}, 60_000)

test.skipIf(docker === undefined)(
  'both ports answer, and the view shows the desktop',
  async () => {
    expect(await (await fetch(`${api}/status`)).json()).toMatchObject({ server: 'backlot', phase: 'ready' })
    expect(await ask('launch', { app: 'lxterminal' })).toMatchObject({ success: true })
    await pidOf(/^lxterminal$/)
    await pidOf(/^tint2$/)
    await browser.goTo(view)
    await browser.until(`(() => {
    const canvas = document.querySelector('.screen canvas')
    if (canvas === null || canvas.width === 0) return false
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return new Set(new Uint32Array(data.buffer)).size > 1000
  })()`)
    await until('the terminal', async () => /agent@/.test(String((await ask('get_active_window_title')).result)))
    const keep = process.env.BACKLOT_KEEP_VIEW
    if (keep !== undefined) await Bun.write(keep, await browser.picture())
  },
  60_000,
)

test.skipIf(docker === undefined)(
  'its programs start and show a window',
  async () => {
    for (const app of ['thunar', 'mousepad', 'chromium']) {
      expect(await ask('launch', { app })).toMatchObject({ success: true })
      await until(`a window of ${app}`, async () => {
        const { windows } = await ask('get_application_windows', { app })
        return Array.isArray(windows) && windows.length > 0
      })
    }
  },
  90_000,
)

test.skipIf(docker === undefined)(
  'health turns healthy',
  async () => {
    const health = () => docker?.ask('inspect', '--format', '{{.State.Health.Status}}', name)
    await until('a healthy container', async () => (await health()) === 'healthy', 60_000)
  },
  90_000,
)

test.skipIf(docker === undefined)(
  'the panel comes back alone when it is killed',
  async () => {
    const [panel, screen] = [await pidOf(/^tint2$/), await pidOf(/^Xtigervnc$/)]
    process.kill(panel, 'SIGKILL')
    await pidOf(/^tint2$/, panel)
    expect(await pidOf(/^Xtigervnc$/)).toBe(screen)
  },
  90_000,
)

test.skipIf(docker === undefined)(
  'the window manager comes back alone when it is killed',
  async () => {
    const screen = await pidOf(/^Xtigervnc$/)
    const manager = await pidOf(/^openbox$/)
    const window = await ask('get_current_window_id')
    process.kill(manager, 'SIGKILL')
    await pidOf(/^openbox$/, manager)
    const { window_id } = window
    // Until the new one has taken charge the display says what the dead one wrote there.
    await until('the window to be managed, and to be the active one', async () => {
      await ask('activate_window', { window_id })
      return (await ask('get_current_window_id')).window_id === window_id
    })
    expect(await pidOf(/^Xtigervnc$/)).toBe(screen)
  },
  90_000,
)

for (const program of [/^Xtigervnc$/, /^dbus-daemon$/, /^at-spi-bus-laun/, /^backlot$/]) {
  test.skipIf(docker === undefined)(
    `a new desktop comes when ${program.source} is killed`,
    async () => {
      const screen = await pidOf(/^Xtigervnc$/)
      process.kill(await pidOf(program), 'SIGKILL')
      await pidOf(/^Xtigervnc$/, screen)
      await isReady()
      await pidOf(/^tint2$/)
      expect(await ask('get_screen_size')).toMatchObject({ success: true })
    },
    90_000,
  )
}

test.skipIf(docker === undefined)(
  'SIGTERM ends it in five seconds',
  async () => {
    const begun = performance.now()
    await docker?.ask('stop', '--time', '30', name)
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(await docker?.ask('inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', name)).toBe('0 false')
  },
  60_000,
)
