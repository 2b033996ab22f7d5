import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BacklotError, HTTPTransport, Image, type Layer, LayerExecutor } from '@backlot/sdk'
import { buildImage } from '../../ts/sdk/build/build-image.ts'
import { type FakePhone, startFakePhone } from '../support/fake-device.ts'
import { fixturePackage, makeFixtureApk, readApk, verifyApk } from '../support/fixture-apk.ts'
import { proving } from '../support/proves.ts'

let phone: FakePhone
let folder: string
let apk: string

beforeAll(async () => {
  phone = await startFakePhone()
  folder = mkdtempSync(join(tmpdir(), 'apk-'))
  apk = makeFixtureApk(folder)
})

afterAll(async () => {
  await phone?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const failureOf = async (work: Promise<unknown>): Promise<BacklotError> => {
  try {
    await work
  } catch (error) {
    if (BacklotError.is(error)) return error
    throw error
  }
  throw new Error('nothing failed')
}

const installed = () => phone.device.read('installed.apk')
const left = async () => (await phone.computer.ask('list_dir', { path: '~' })).files

test(
  'apk_install brings APK files of paths and addresses to the device and installs them',
  proving(['sandbox.image.apk-install'], async () => {
    const bytes = readFileSync(apk)
    await using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(bytes) })
    const image = Image.android().apkInstall(apk).apkInstall(`${server.url.href}app.apk`)
    await buildImage(new HTTPTransport(phone.computer.url), image)
    const calls = phone.device.arrived('pm')
    expect(calls.map((call) => call.slice(0, -1))).toEqual(Array(2).fill(['pm', 'install', '-r', '-t']))
    expect(installed().equals(bytes)).toBe(true)
    expect(await left()).toEqual([])
    // What the device was given is an application that Android's own tools accept.
    const copy = join(folder, 'installed.apk')
    writeFileSync(copy, installed())
    expect(verifyApk(copy)).toContain('Verified using v2 scheme (APK Signature Scheme v2): true')
    expect(readApk(copy)).toContain(`package: name='${fixturePackage}'`)
    expect(await failureOf(Promise.resolve().then(() => Image.linux().apkInstall(apk)))).toMatchObject({
      code: 'layer_not_for_os',
    })
  }),
)

test('what Android refuses fails its layer, and what no device carries out is refused before any layer runs', async () => {
  const executor = new LayerExecutor(phone.computer.url)
  const text = join(folder, 'no.apk')
  writeFileSync(text, 'no application')
  expect(await failureOf(executor.executeLayer({ type: 'apk_install', packages: [text] }))).toMatchObject({
    code: 'layer_failed',
    message: expect.stringContaining(`"${text}" is not installed: Failure [INSTALL_PARSE_FAILED_NOT_APK`),
  })
  expect(await left()).toEqual([])
  expect(await executor.executeLayer({ type: 'run', command: 'echo "$((20 + 3))"' })).toMatchObject({ stdout: '23\n' })
  phone.device.arrived()
  const layers: Layer[] = [
    { type: 'apk_install', packages: [apk] },
    { type: 'pip_install', packages: ['requests'] },
  ]
  expect(await failureOf(executor.executeLayers(layers))).toMatchObject({ code: 'unsupported' })
  expect(phone.device.arrived('pm')).toEqual([])
})
