import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Fields, frameOf, post } from '../support/computer.ts'
import { startContainer, type TestContainer } from '../support/container.ts'
import { makeFakeSdk } from '../support/fake-sdk.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dir, '../..')
const sdk = join(root, 'target/container-sdk')
const api = 'http://127.0.0.1:8000'
const view = 'http://127.0.0.1:6080'

/** The device of the emulator, in the files of the container. */
const avd = '/home/data/avd/backlot.avd'

const start = (variables: Readonly<Record<string, string>> = {}) =>
  startContainer(
    {
      BACKLOT_ANDROID_FOLDER: join(root, 'docker/android'),
      BACKLOT_ANDROID_DATA: '/home/data',
      ANDROID_HOME: sdk,
      EMULATOR_LEAST_FREE_MB: '1',
      // A device that everybody may use, as /dev/kvm has to be.
      BACKLOT_KVM: '/dev/null',
      ...variables,
    },
    'android',
  )

const status = (at = api): Promise<Fields> =>
  fetch(`${at}/status`).then(
    async (answer) => (await answer.json()) as Fields,
    () => ({}),
  )
const isReady = () => until('the device to be ready', async () => (await status()).phase === 'ready', 60_000)
const reasonHas = (text: string) =>
  until(`the reason "${text}"`, async () => String((await status()).reason).includes(text), 60_000)
const ask = async (command: string, params: Fields = {}) => frameOf(await post(api, { command, params }))
/** What a command prints on the device, which shares the files of the container. */
const shell = async (command: string) => String((await ask('run_command', { command })).stdout)

/** The first bytes of the screen, as a viewer gets them. */
const greetingOf = async (url: string): Promise<string> => {
  const socket = new WebSocket(url, 'binary')
  socket.binaryType = 'arraybuffer'
  const came = Promise.withResolvers<string>()
  socket.onmessage = ({ data }) => {
    // Texts tell who has taken over.
    if (typeof data !== 'string') came.resolve(Buffer.from(data as ArrayBuffer).toString('latin1'))
  }
  socket.onclose = ({ reason }) => came.reject(new Error(`the screen closed: ${reason}`))
  try {
    return await came.promise
  } finally {
    socket.close()
  }
}

beforeAll(() => makeFakeSdk(sdk), 60_000)

describe('with all that it needs', () => {
  let container: TestContainer

  beforeAll(async () => {
    container = await start({ FAKE_EMULATOR_BOOT_MS: '3000' })
  })

  afterAll(() => container[Symbol.asyncDispose]())

  test(
    'both ports answer while the device boots, and /status says how far it is',
    proving(
      [
        'sandbox.android.web-vnc',
        'sandbox.android.web-vnc-env',
        'sandbox.android.port-6080',
        'sandbox.android.port-8000',
      ],
      async () => {
        await until(
          'both ports',
          async () => (await status()).phase === 'starting' && (await status(view)).phase === 'starting',
        )
        await reasonHas('the emulator boots')
        const { percent, os_type } = await status()
        expect([typeof percent, os_type]).toEqual(['number', 'android'])
        await isReady()
        expect((await status(view)).features).toContain('view')
        expect((await fetch(view)).url).toBe(`${view}/view`)
        expect(await greetingOf(`${view.replace('http', 'ws')}/view/screen`)).toStartWith('RFB 003.')
        expect((await fetch(`${api}/docs`)).status).toBe(200)
        expect(container.log()).toContain('open: whoever reaches')
      },
    ),
  )

  test('commands reach the device, and the emulator has its window on the screen of the view', async () => {
    expect(await ask('get_screen_size')).toMatchObject({ size: { width: 1_080, height: 1_920 } })
    await ask('type_text', { text: 'before' })
    await until('the text', async () => (await shell(`cat ${avd}/device/typed`)) === 'before')
    expect(await shell(`cat ${avd}/device/arguments`)).toStartWith('-avd backlot -port 5554 -accel on ')
    await container.process(/^xterm$/)
    await container.process(/^Xtigervnc$/)
  })

  test('an emulator that dies begins with the memory of its snapshot', async () => {
    await until('the snapshot', () => container.log().includes('saved its memory'))
    const saved = await shell(`cat ${avd}/snapshots/backlot/typed`)
    await ask('type_text', { text: ', after' })
    const { pid } = await container.process(/^emulator$/)
    const { pid: screen } = await container.process(/^Xtigervnc$/)
    process.kill((await container.process(/^real-adbd$/)).pid, 'SIGKILL')
    await container.process(/^real-adbd$/)
    await until('another emulator', () => container.log().includes('is started again'))
    await until('it to load its snapshot', async () => {
      const { stdout } = await ask('run_command', { command: `cat ${avd}/device/arguments` })
      return String(stdout).includes('-snapshot backlot')
    })
    expect(pid).not.toBe((await container.process(/^emulator$/)).pid)
    expect(await shell(`cat ${avd}/device/typed`)).toBe(saved)
    expect((await container.process(/^Xtigervnc$/)).pid).toBe(screen)
  })

  for (const [part, name] of [
    ['adb server', /^real-adb$/],
    ['computer server', /^backlot$/],
  ] as const) {
    test(`the ${part} comes back when it is killed`, async () => {
      const { pid } = await container.process(name)
      process.kill(pid, 'SIGKILL')
      await container.process(name, pid)
      await until(
        'the device to answer',
        async () => ((await ask('get_screen_size').catch(() => ({}))) as Fields).success === true,
        60_000,
      )
      await until('no child of the entry unburied', () => {
        const entries = container.processes().filter((each) => each.name === 'entry')
        return container
          .processes()
          .every(({ state, parent }) => state !== 'Z' || entries.every(({ pid: entry }) => entry !== parent))
      })
    })
  }

  test('SIGTERM ends all of it', async () => {
    const begun = performance.now()
    expect(await container.end()).toBe(0)
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(container.processes()).toEqual([])
  })
})

test(
  'without the view the emulator has no window and no port 6080, and its profile is the one that is named',
  proving(['sandbox.android.emulator-device'], async () => {
    await using container = await start({
      WEB_VNC: 'false',
      EMULATOR_DEVICE: 'pixel_4',
      BACKLOT_COMPUTER_KEY: 'open-sesame',
    })
    await isReady()
    expect(await status(view)).toEqual({})
    expect((await fetch(`${api}/commands`)).status).toBe(401)
    const answer = await fetch(`${api}/cmd`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': 'open-sesame' },
      body: JSON.stringify({
        command: 'run_command',
        params: { command: 'cat /home/data/avd/backlot-pixel_4.avd/config.ini; cat /home/data/avd/*/device/arguments' },
      }),
    })
    const said = await answer.text()
    expect(said).toContain('hw.device.name=pixel_4')
    expect(said).toContain('-no-window')
    expect(container.processes().filter(({ name }) => /xterm|tigervnc/.test(name))).toEqual([])
    expect(container.log()).not.toContain('open-sesame')
    expect(await container.end()).toBe(0)
  }),
)

test(
  'what keeps the device from booting is the reason that /status gives',
  proving(['sandbox.android.kvm'], async () => {
    const cases: [Record<string, string>, string][] = [
      [{ BACKLOT_KVM: '/dev/none' }, 'start the container with --device /dev/kvm'],
      [{ EMULATOR_LEAST_FREE_MB: '99999999' }, 'a device needs 99999999'],
      [
        { EMULATOR_DEVICE: 'no such profile' },
        'the profile "no such profile" (EMULATOR_DEVICE): Error: No device found',
      ],
      [{ FAKE_EMULATOR_BOOT_MS: 'never', EMULATOR_BOOT_TIMEOUT: '2' }, 'the boot was stuck: not done after 2 s'],
      [{ ANDROID_HOME: '/nowhere' }, 'is missing in this image'],
    ]
    for (const [variables, reason] of cases) {
      await using container = await start({ WEB_VNC: 'false', ...variables })
      await reasonHas(reason)
      expect(await container.end()).toBe(0)
    }
  }),
  60_000,
)
