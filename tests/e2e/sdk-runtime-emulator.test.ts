import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Image, runtimes, Sandbox } from '@backlot/sdk'
import { backlotCommand } from '../support/backlot.ts'
import { makeFakeSdk } from '../support/fake-sdk.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { until } from '../support/until.ts'
import { startVmHost } from '../support/vmhost.ts'
import { create } from '../support/vms.ts'

const sdkRoot = join(mkdtempSync(join(tmpdir(), 'android-sdk-')), 'sdk')
const image = `system-images;android-30;google_apis;${process.arch === 'arm64' ? 'arm64-v8a' : 'x86_64'}`
const runtime = runtimes.emulator({ sdkRoot, device: 'pixel_4' })

beforeAll(async () => {
  const [executable = ''] = backlotCommand()
  process.env.BACKLOT_BIN = executable
  process.env.FAKE_EMULATOR_BOOT_MS = '300'
  await makeFakeSdk(sdkRoot)
}, 60_000)

afterAll(async () => {
  await Bun.spawn([join(sdkRoot, 'platform-tools/adb'), 'kill-server'], { stderr: 'ignore' }).exited
  rmSync(`/tmp/adb.${process.getuid?.()}.log`, { force: true })
  rmSync(join(sdkRoot, '..'), { recursive: true, force: true, maxRetries: 5 })
})

/** Sets a variable for the rest of a test. */
const withVariable = (name: string, value: string) => {
  const before = process.env[name]
  process.env[name] = value
  onTestFinished(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: { code: string }) => error.code,
  )

/** The calls of gRPC that the emulator got since it started. */
const callsIn = async (state: string) =>
  (await Bun.file(join(state, 'grpc')).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('it is there where the SDK and virtualization are, and says else what is missing', async () => {
  expect(await runtime.check()).toMatchObject({ available: true, features: { os: ['android'], suspend: 'memory' } })
  expect(await runtimes.emulator({ sdkRoot: '/nowhere' }).check()).toMatchObject({
    available: false,
    reason: 'The Android SDK is not at "/nowhere".',
    remedy: expect.stringContaining('command-line tools'),
  })
  withVariable('FAKE_EMULATOR_ACCEL', 'none')
  expect(await runtime.check()).toMatchObject({
    available: false,
    reason: 'The emulator says: /dev/kvm is not found.',
  })
})

test('an emulator is created, used, suspended with its memory, resumed and deleted', async () => {
  const { folder } = sandboxHome()
  const image = Image.android('11').run(`echo built >${folder}/layer`)
  const created = await Sandbox.create(image, { runtime, name: 'phone', memoryMb: 2_048, cpu: 2 })
  const arrived = async (sandbox: Sandbox) => (await sandbox.shell.run(`cat ${state}/typed ${state}/arguments`)).stdout
  const state = join(folder, 'data/emulators/phone/avd/backlot.avd/device')
  try {
    expect(await Bun.file(join(folder, 'layer')).text()).toBe('built\n')
    await created.mobile.typeText('before ')
    expect(await arrived(created)).toBe(
      'before -avd backlot -port 5554 -no-window -no-audio -no-boot-anim -no-snapshot-save -gpu swiftshader_indirect -cores 2 -memory 2048 -no-snapshot-load',
    )
    expect(await created.screen.size()).toEqual({ width: 1_080, height: 1_920 })
    expect((await created.shell.run('cat ../../config.ini', { cwd: `${state}/programs` })).stdout).toContain('=pixel_4')
    // Several fingers and the clipboard go by gRPC, as its own library reads them.
    await created.mobile.gesture([100, 200], [100, 100], [300, 400], [300, 500], { durationMs: 40, steps: 1 })
    await created.clipboard.set('Grüße, 世界')
    expect(await created.clipboard.get()).toBe('Grüße, 世界')
    await created.keyboard.keyDown('ctrl')
    await created.keyboard.keyDown('c')
    await created.keyboard.keyUp('c')
    await created.keyboard.keyUp('ctrl')
    expect(await codeOf(created.keyboard.keyDown('camera'))).not.toBe('none')
    const calls = await callsIn(state)
    const touches = calls.filter(({ name }) => name === 'sendTouch').map((call) => call.touches)
    const fingers =
      (...each: [x: number, y: number][]) =>
      (pressure: number) =>
        each.map(([x, y], identifier) => expect.objectContaining({ x, y, identifier, pressure }))
    const [begin, end] = [fingers([100, 200], [300, 400]), fingers([100, 100], [300, 500])]
    expect(touches).toEqual([begin(512), end(512), end(0)])
    const keys = calls.filter(({ name }) => name === 'sendKey')
    // Numbers of linux/input-event-codes.h.
    const [ctrl, c] = [29, 46].map(
      (keyCode) => (eventType: string) => expect.objectContaining({ codeType: 'Evdev', eventType, keyCode }),
    )
    expect(keys).toEqual([ctrl?.('keydown'), c?.('keydown'), c?.('keyup'), ctrl?.('keyup')])
    expect(calls.find(({ name }) => name === 'setClipboard')).toMatchObject({ text: 'Grüße, 世界' })
    await created.keyboard.keyDown('shift')
    await created.disconnect()

    await Sandbox.suspend('phone')
    // What a server holds it lets go of at its end.
    expect((await callsIn(state)).at(-1)).toMatchObject({ name: 'sendKey', eventType: 'keyup', keyCode: 42 })
    expect(await Sandbox.list({ local: true })).toMatchObject([
      { name: 'phone', status: 'suspended', osType: 'android' },
    ])
    expect(await codeOf(fetch('http://127.0.0.1:5554'))).not.toBe('none')
    // What came to the disk after it was saved is not in its memory.
    await Bun.write(join(state, 'typed'), 'lost')
    const resumed = await Sandbox.resume('phone')
    expect(await arrived(resumed)).toContain('-snapshot backlot-suspended')
    await resumed.mobile.typeText('after')
    expect(await arrived(resumed)).toStartWith('before after-avd')
    const again = await Sandbox.connect('phone')
    expect(await arrived(again)).toStartWith('before after-avd')
    for (const sandbox of [again, resumed]) await sandbox.disconnect()
  } finally {
    await Sandbox.delete('phone')
  }
  expect(existsSync(join(folder, 'data/emulators/phone'))).toBe(false)
  expect(await Sandbox.list({ local: true })).toEqual([])
}, 60_000)

test('one that runs does not go back to what was saved, also where nobody waited for its continuation', async () => {
  const { folder } = sandboxHome()
  const phone = await Sandbox.create(Image.android('11'), { runtime, name: 'phone' })
  try {
    // What a resume leaves that was given up before the device was ready.
    const mark = join(folder, 'data/emulators/phone/suspended')
    await Bun.write(mark, '')
    await until('the device to be found ready', async () => {
      expect(await Sandbox.list({ local: true })).toMatchObject([{ name: 'phone', status: 'running' }])
      return !existsSync(mark)
    })
    await phone.disconnect()
  } finally {
    await Sandbox.delete('phone')
  }
}, 60_000)

test('two have ports of their own, and one whose emulator dies says why', async () => {
  sandboxHome()
  await using one = await Sandbox.ephemeral(Image.android('11'), { runtime })
  await using other = await Sandbox.ephemeral(Image.android('11'), { runtime })
  const [first, second] = await Promise.all(
    [one, other].map(async (each) => (await each.shell.run('echo $ADBD_PORT')).stdout.trim()),
  )
  expect(new Set([first, second]).size).toBe(2)
  withVariable('FAKE_EMULATOR_BOOT_MS', 'dies')
  const failed = await Sandbox.ephemeral(Image.android('11'), { runtime }).catch((error: Error) => error.message)
  expect(failed).toContain('The emulator ended: PANIC: it dies')
}, 60_000)

/** Answers to what is asked of an engine on a socket: that it is there, and that it runs one sandbox of this home. */
const startFakeEngine = (path: string, name: string) => {
  const answers: Readonly<Record<string, unknown>> = {
    '/_ping': 'OK',
    '/info': { CpuCfsQuota: true, MemoryLimit: true },
    '/containers/json': [{ Id: '1', Names: [`/${name}`], State: 'paused', Labels: { 'backlot.sandbox': name } }],
  }
  return Bun.serve({
    unix: path,
    fetch: ({ url }) => {
      const answer = answers[new URL(url).pathname]
      return answer === undefined ? new Response(null, { status: 404 }) : Response.json(answer)
    },
  })
}

test(
  'the list of this machine has what its VM host, its container engine and its emulators hold',
  proving(['sandbox.list.local'], async () => {
    const { folder } = sandboxHome()
    await using host = await startVmHost()
    const engine = startFakeEngine(join(folder, 'engine.sock'), 'boxed')
    try {
      await create(host, 'machine')
      withVariable('BACKLOT_HOST_URL', host.url)
      withVariable('DOCKER_HOST', `unix://${folder}/engine.sock`)
      await using _ = await Sandbox.ephemeral(Image.android('11'), { runtime, name: 'phone' })
      const infos = await Sandbox.list({ local: true })
      expect(infos.map(({ name, source, status }) => [name, source, status])).toEqual([
        ['phone', 'emulator', 'running'],
        ['boxed', 'container', 'suspended'],
        ['machine', 'vmhost', 'stopped'],
      ])
    } finally {
      await engine.stop(true)
    }
  }),
  60_000,
)

test('what is missing of the SDK is installed only with consent', async () => {
  sandboxHome()
  // The image of another version, and the platform's tools, which the stand-in of sdkmanager has aside.
  renameSync(join(sdkRoot, 'emulator'), join(sdkRoot, 'fake/emulator'))
  const twelve = Image.android('12')
  const refused = (wanted: Image) =>
    Sandbox.ephemeral(wanted, { runtime }).catch((error: { code: string; message: string }) => error)
  const lacks = `lacks emulator, ${image.replace('30', '31')}`
  expect(await refused(twelve)).toMatchObject({
    code: 'runtime_unavailable',
    message: expect.stringContaining(`${lacks}.`),
  })
  // What packs apps is needed for web apps alone.
  const path = process.env.PATH ?? ''
  process.env.PATH = '/nowhere'
  const withoutTools = await refused(twelve.pwaInstall('https://shop.example/manifest.json'))
  process.env.PATH = path
  expect(withoutTools).toMatchObject({
    message: expect.stringContaining(`${lacks}, build-tools;34.0.0, platforms;android-34.`),
  })
  expect(existsSync(join(sdkRoot, 'licenses'))).toBe(false)
  const consenting = runtimes.emulator({ sdkRoot, acceptLicenses: true })
  await using sandbox = await Sandbox.ephemeral(twelve, { runtime: consenting })
  await until('the device', async () => (await sandbox.shell.run('echo there')).stdout === 'there\n')
  expect(existsSync(join(sdkRoot, 'licenses/android-sdk-license'))).toBe(true)
  expect(await codeOf(Sandbox.ephemeral(Image.android('1.6'), { runtime }))).toBe('unsupported')
}, 60_000)
