import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, openBrowser } from '../support/browser.ts'
import { type Fields, frameOf, post } from '../support/computer.ts'
import { type Docker, startDocker } from '../support/docker.ts'
import { makeFakeSdk } from '../support/fake-sdk.ts'
import { limitMs } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(120_000))

const root = join(import.meta.dir, '../..')
const name = 'phone'
const folder = mkdtempSync(join(tmpdir(), 'android-'))

/** The words after `docker` of the README's line, which a person copies; what stands for KVM is there wherever tests run. */
const runLine = async (): Promise<string[]> => {
  const readme = await Bun.file(join(root, 'docker/android/README.md')).text()
  const [, line = ''] = /```sh\ndocker (run [^`]*)```/.exec(readme) ?? []
  return line
    .trim()
    .split(/\s+/)
    .flatMap((word) => (word === '/dev/kvm' ? ['/dev/null:/dev/kvm', '--env', 'EMULATOR_LEAST_FREE_MB=1'] : [word]))
}

const started = await startDocker()
const docker = typeof started === 'string' ? undefined : (started as Docker)
if (docker === undefined) console.log(`skipped: ${String(started)}`)
const engineTest = test.skipIf(docker === undefined)

let api = ''
let view = ''
let browser: Browser

const phase = async (): Promise<unknown> =>
  fetch(`${api}/status`).then(
    async (answer) => ((await answer.json()) as Fields).phase,
    () => undefined,
  )
const isReady = () => until('the device to be ready', async () => (await phase()) === 'ready', 60_000)
const ask = async (command: string, params: Fields = {}) => frameOf(await post(api, { command, params }))
/** Runs a line of shell in the container, as the user of what runs there. */
const inside = async (line: string): Promise<string> =>
  (await docker?.ask('exec', '--user', 'agent', '--env', 'HOME=/data/home', name, 'sh', '-c', line)) ?? ''
const pidOf = (program: string, before = '') =>
  until(`a process ${program}`, async () => {
    const found = await inside(`pgrep -o -x ${program} || true`)
    return found !== '' && found !== before && found
  })

beforeAll(async () => {
  if (docker === undefined) return
  const sdk = join(folder, 'sdk')
  await makeFakeSdk(sdk)
  const base = `FROM ${docker.base}
RUN apt-get update && apt-get install --yes --no-install-recommends xterm libstdc++6
COPY sdk /opt/android
`
  await Bun.write(join(folder, 'Dockerfile'), base)
  await docker.ask('build', '--network', 'host', '--tag', 'stand-in', folder)
  const build = ['--network', 'host', '--build-arg', 'BASE=stand-in', '--tag', 'backlot-android']
  await docker.ask('build', ...build, '--file', join(root, 'docker/android/Dockerfile'), root)
  await docker.ask(...(await runLine()))
  api = await docker.reach(8000)
  view = await docker.reach(6080)
  await isReady()
  browser = await openBrowser()
}, 540_000)

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await docker?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

engineTest('in a browser the view shows the window of the emulator, and /docs the commands', async () => {
  expect(await (await fetch(`${api}/status`)).json()).toMatchObject({ server: 'backlot', os_type: 'android' })
  await pidOf('xterm')
  await browser.goTo(view)
  await browser.until(`(() => {
    const canvas = document.querySelector('.screen canvas')
    if (canvas === null || canvas.width === 0) return false
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return new Set(new Uint32Array(data.buffer)).size > 2
  })()`)
  await browser.goTo(`${api}/docs`)
  await browser.until(`document.body.innerText.includes('get_screen_size')`)
})

engineTest('commands reach the device, and nothing of it is root', async () => {
  expect(await ask('get_screen_size')).toMatchObject({ success: true, size: { width: 1_080 } })
  expect(await ask('type_text', { text: 'hello' })).toMatchObject({ success: true })
  expect(await inside('cat /data/avd/backlot.avd/device/typed; id -u')).toBe('hello1000')
  expect(await docker?.ask('top', name, '-o', 'pid,user')).not.toMatch(/\broot\b/)
})

engineTest('health turns healthy', async () => {
  const health = () => docker?.ask('inspect', '--format', '{{.State.Health.Status}}', name)
  await until('a healthy container', async () => (await health()) === 'healthy', 90_000)
})

for (const program of ['emulator', 'real-adb', 'Xtigervnc', 'backlot']) {
  engineTest(`${program} comes back when it is killed`, async () => {
    const before = await pidOf(program)
    await inside(`kill -KILL ${before}`)
    await pidOf(program, before)
    await until(
      'the device to answer',
      async () => ((await ask('get_screen_size').catch(() => ({}))) as Fields).success === true,
      60_000,
    )
    await pidOf('xterm')
  })
}

engineTest('a snapshot is on the volume, and the container that starts again begins with it', async () => {
  await inside('adb -s emulator-5554 emu avd snapshot save backlot')
  await docker?.ask('restart', '--time', '30', name)
  await isReady()
  expect(await inside('cat /data/avd/backlot.avd/device/arguments')).toContain('-snapshot backlot')
})

engineTest('SIGTERM ends it in five seconds', async () => {
  const begun = performance.now()
  await docker?.ask('stop', '--time', '30', name)
  expect(performance.now() - begun).toBeLessThan(5_000)
  expect(await docker?.ask('inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', name)).toBe('0 false')
})
