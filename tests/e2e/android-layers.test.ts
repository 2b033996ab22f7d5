import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BacklotError, HTTPTransport, Image, type Layer, LayerExecutor } from '@backlot/sdk'
import { devicePrograms, java } from '../../ts/cli/generated/android-dex.ts'
import { buildImage } from '../../ts/sdk/build/build-image.ts'
import { compiledWithFakes } from '../support/fake-agent.ts'
import { type FakePhone, startFakePhone } from '../support/fake-device.ts'
import { fixtureKey, fixturePackage, makeFixtureApk, readApk, verifyApk } from '../support/fixture-apk.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'

const root = join(import.meta.dir, '../..')

let phone: FakePhone
let folder: string
let apk: string
/** What `apksigner` says of it. */
let verified: string

beforeAll(async () => {
  phone = await startFakePhone()
  folder = mkdtempSync(join(tmpdir(), 'apk-'))
  apk = makeFixtureApk(folder)
  verified = verifyApk(apk)
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
    expect(verified).toContain('Verified using v2 scheme (APK Signature Scheme v2): true')
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

/** A site with a web app, whose list of applications is what was given last. */
const startSite = (links: { list: unknown }) => {
  const manifest = {
    short_name: `It's "Über" \\n <b> & 世界`,
    start_url: './?from=home&x=1',
    theme_color: '#135',
    icons: [
      { src: 'icon.svg', sizes: '512x512', type: 'image/svg+xml' },
      { src: 'small.png', sizes: '48x48' },
      { src: 'icon.png', sizes: '500x340', purpose: 'any maskable' },
    ],
  }
  const answers: Readonly<Record<string, () => Response>> = {
    '/shop/manifest.webmanifest': () => Response.json(manifest),
    '/shop/icon.svg': () => new Response('<svg/>'),
    '/shop/icon.png': () => new Response(Bun.file(join(root, 'docs/images/cursors-cut.png'))),
    '/.well-known/assetlinks.json': () => Response.json(links.list),
  }
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => answers[new URL(url).pathname]?.() ?? new Response(null, { status: 404 }),
  })
}

test(
  'pwa_install makes an app of a web app, signs it with the key that is given or kept, and installs it',
  proving(
    [
      'sandbox.image.pwa-install',
      'sandbox.image.pwa-install.package-name',
      'sandbox.image.pwa-install.keystore',
      'sandbox.image.pwa-install.fingerprint',
    ],
    async () => {
      const home = sandboxHome()
      const links: { list: unknown } = { list: [] }
      await using site = startSite(links)
      const manifest = `${site.url.origin}/shop/manifest.webmanifest`
      const notes: string[] = []
      const build = (image: Image) =>
        buildImage(new HTTPTransport(phone.computer.url), image, { onNote: (note) => notes.push(note) })
      const copy = join(folder, 'web-app.apk')
      const certificate = () => {
        writeFileSync(copy, installed())
        return /SHA-256 digest: ([0-9a-f]{64})/.exec(verifyApk(copy))?.[1]
      }
      const fingerprintIn = (note = '') => /signed by the key ([0-9A-F:]{95})\./.exec(note)?.[1] ?? ''
      const plain = (fingerprint: string) => fingerprint.replaceAll(':', '').toLowerCase()

      // A key of its own, which the site does not know yet.
      await build(Image.android().pwaInstall(manifest))
      const fingerprint = fingerprintIn(notes[0])
      expect(certificate()).toBe(plain(fingerprint))
      const badging = readApk(copy)
      expect(badging).toContain("package: name='a1.a0.a0.a127'")
      expect(badging).toContain("launchable-activity: name='backlot.webapp.LaunchActivity'")
      expect(badging).toContain(`application-label:'It's \\"Über\\" \\\\n <b> & 世界'`)
      expect(badging).toContain("icon='res/drawable-nodpi-v4/icon.png'")
      const tree = readApk(copy, 'xmltree', 'AndroidManifest.xml')
      expect(tree).toContain(`"${site.url.origin}/shop/?from=home&x=1"`)
      expect(tree).toContain('0xff113355')
      expect(readApk(copy, 'list')).toContain('classes.dex')
      expect(notes[0]).toContain('does not name it')
      expect(JSON.parse(notes[0]?.trim().split('\n').at(-1) ?? '')).toMatchObject([
        { target: { package_name: 'a1.a0.a0.a127', sha256_cert_fingerprints: [fingerprint] } },
      ])

      // The kept key is taken again, not made anew, whatever its owner says.
      const kept = join(home.folder, 'cache/web-apps/a1.a0.a0.a127.keystore')
      const bytes = readFileSync(kept)
      expect(statSync(kept).mode & 0o077).toBe(0)
      phone.device.arrived()
      const wrong = Image.android().pwaInstall(manifest, { keystorePassword: 'another' })
      expect(await failureOf(build(wrong))).toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(`"${kept}" gives no key "android"`),
      })
      expect(phone.device.arrived('pm')).toEqual([])
      expect(readFileSync(kept).equals(bytes)).toBe(true)

      // A key that is given, which the site names.
      const given = {
        keystore: join(folder, 'keys'),
        keystoreAlias: fixtureKey.alias,
        keystorePassword: fixtureKey.password,
      }
      const fixture = /SHA-256 digest: ([0-9a-f]{64})/.exec(verified)?.[1] ?? ''
      const named = fixture.replaceAll(/..(?=.)/g, '$&:')
      links.list = [
        {
          relation: ['delegate_permission/common.handle_all_urls'],
          target: { namespace: 'android_app', package_name: 'org.example.shop', sha256_cert_fingerprints: [named] },
        },
      ]
      await build(Image.android().pwaInstall(manifest, { ...given, packageName: 'org.example.shop' }))
      expect(certificate()).toBe(fixture)
      expect(readApk(copy)).toContain("package: name='org.example.shop'")
      expect(notes[1]).toContain(`${site.url.origin}/.well-known/assetlinks.json names it.`)
      expect(plain(fingerprintIn(notes[1]))).toBe(fixture)
    },
  ),
  60_000,
)

test('what is no web app, key or package name is refused with what is wrong', async () => {
  sandboxHome()
  await using site = startSite({ list: [] })
  const transport = new HTTPTransport(phone.computer.url)
  const manifest = `${site.url.origin}/shop/manifest.webmanifest`
  const refused = async (...words: Parameters<Image['pwaInstall']>) =>
    (await failureOf(buildImage(transport, Image.android().pwaInstall(...words)))).message
  expect(await refused(`${site.url.origin}/nothing`)).toContain('it answers 404')
  expect(await refused(`${site.url.origin}/shop/icon.svg`)).toContain('what it answers is not JSON')
  expect(await refused(manifest, { packageName: 'shop' })).toContain('"package_name" is "shop"')
  expect(await refused(manifest, { keystore: '/nowhere/keys' })).toContain('"/nowhere/keys" on this machine')
})

test('the app opens its page in the browser that hides its controls, and ends with it', () => {
  const classes = compiledWithFakes(devicePrograms.webApp)
  const opened = (...words: string[]) => {
    const command = [...java, '-cp', classes, 'android.FakeDevice', 'backlot.webapp.LaunchActivity', ...words]
    const { stdout, stderr } = Bun.spawnSync(command)
    return `${stdout}${stderr}`.trim().split('\n')
  }
  const page = 'https://shop.example/?x=1'
  const extra = 'android.support.customtabs.extra.'
  const session = `{${extra}LAUNCH_AS_TRUSTED_WEB_ACTIVITY=true, ${extra}SESSION=binder of android.support.customtabs.ICustomTabsCallback, ${extra}TOOLBAR_COLOR=${0xff113355 | 0}}`
  expect(opened(page, 'ff113355', 'org.plain', 'org.plain', 'org.trusted:trusted')).toEqual([
    'bind android.support.customtabs.action.CustomTabsService null org.trusted {}',
    'transact 3 android.support.customtabs.ICustomTabsService android.support.customtabs.ICustomTabsCallback',
    `start android.intent.action.VIEW ${page} org.trusted ${session}`,
    'finish',
    'unbind',
  ])
  expect(opened(page, '', 'org.plain', 'org.other', 'org.plain:refuses').slice(2)).toEqual([
    `start android.intent.action.VIEW ${page} org.plain {}`,
    'finish',
    'unbind',
  ])
  expect(opened(page, '', 'org.plain')).toEqual([`start android.intent.action.VIEW ${page} null {}`, 'finish'])
})
