import { expect, onTestFinished, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configure, Image, login, Sandbox, whoami } from '@backlot/sdk'
import { type FakeCloud, startCloud } from '../support/fake-cloud.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'

const key = 'sk-a-key-that-nobody-sees'

const cloudOf = (home: { folder: string }, itsKey = key): FakeCloud => {
  const cloud = startCloud(itsKey, join(home.folder, 'vms', itsKey))
  onTestFinished(() => cloud[Symbol.asyncDispose]())
  return cloud
}

const errorOf = (work: PromiseLike<unknown>) =>
  Promise.resolve(work).then(
    () => undefined,
    (error) => error,
  )

const codeOf = async (work: PromiseLike<unknown>): Promise<string> => (await errorOf(work))?.code ?? 'none'

test(
  'login obtains the key by the browser and stores it for this user alone; whoami tells whose it is',
  proving(['sandbox.login', 'sandbox.whoami', 'sandbox.auth.login-stores'], async () => {
    const home = sandboxHome()
    const cloud = cloudOf(home)
    let shown = ''
    let page = ''
    let last = ''
    let closed: Promise<unknown> | undefined
    await login({
      baseUrl: `${cloud.url}/`,
      open(url) {
        shown = url
        // As a browser does, which follows the cloud back to this machine.
        closed = fetch(url).then(async (response) => {
          last = response.url
          page = await response.text()
        })
      },
    })
    await closed
    expect(shown).toStartWith(`${cloud.url}/cli-auth?callback_url=http%3A%2F%2F127.0.0.1%3A`)
    expect(page).toContain('You are signed in')
    expect(last).not.toContain(key)
    const path = join(home.folder, 'config', 'credentials.json')
    const modes = [path, join(home.folder, 'config')].map((each) => (statSync(each).mode & 0o777).toString(8))
    expect(modes).toEqual(['600', '700'])
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      format: 1,
      base_url: cloud.url,
      keys: { [cloud.url]: key },
    })
    expect(await whoami()).toMatchObject({ id: 'user-1', email: 'someone@example.org', plan: 'small' })
    expect(await codeOf(whoami({ apiKey: 'sk-another' }))).toBe('unauthorized')
    // The callback is gone.
    expect((await errorOf(fetch(decodeURIComponent(shown.split('callback_url=')[1] ?? ''))))?.code).toBe('ECONNREFUSED')
  }),
)

test('a foreign callback, one without a key and a key that is refused sign nobody in', async () => {
  const home = sandboxHome()
  const cloud = cloudOf(home)
  const path = join(home.folder, 'config', 'credentials.json')
  const callbackOf = (url: string) => decodeURIComponent(url.split('callback_url=')[1] ?? '')
  const statuses: number[] = []
  await login({
    baseUrl: cloud.url,
    async open(url) {
      const callback = callbackOf(url)
      const foreign = [
        callback.replace(/[0-9a-f]{32}/, '0'.repeat(32)),
        `${new URL(callback).origin}/callback`,
        `${new URL(callback).origin}/`,
      ]
      for (const each of foreign) statuses.push((await fetch(`${each}?token=sk-foreign`)).status)
      statuses.push((await fetch(`${callback}?token=sk-foreign`, { headers: { Host: 'evil.example' } })).status)
      void fetch(url)
    },
  })
  expect(statuses).toEqual([404, 404, 404, 404])
  expect(readFileSync(path, 'utf8')).not.toContain('sk-foreign')
  const before = readFileSync(path, 'utf8')
  const pages: Promise<string>[] = []
  const visit = (query: string) => (url: string) =>
    void pages.push(fetch(`${callbackOf(url)}?${query}`).then((response) => response.text()))
  expect(await codeOf(login({ baseUrl: cloud.url, open: visit('token=sk-wrong') }))).toBe('unauthorized')
  expect(await codeOf(login({ baseUrl: cloud.url, open: visit('error=denied') }))).toBe('unauthorized')
  expect(await codeOf(login({ baseUrl: cloud.url, open: visit('') }))).toBe('invalid_response')
  for (const page of await Promise.all(pages)) expect(page).toContain('You are not signed in')
  expect((await Promise.all(pages)).join()).not.toContain('sk-wrong')
  expect(readFileSync(path, 'utf8')).toBe(before)
})

test('login ends at its limit and when cancelled, whatever the browser does', async () => {
  const home = sandboxHome()
  const cloud = cloudOf(home)
  const late = await errorOf(login({ baseUrl: cloud.url, timeoutMs: 50, open: () => undefined }))
  expect(late).toMatchObject({ code: 'login_timeout', data: { timeoutMs: 50 } })
  const cancelling = new AbortController()
  const cancelled = login({
    baseUrl: cloud.url,
    signal: cancelling.signal,
    open: () => cancelling.abort(new Error('no')),
  })
  expect((await errorOf(cancelled))?.message).toBe('no')
  expect(
    (await errorOf(login({ baseUrl: cloud.url, open: () => Promise.reject(new Error('no browser')) })))?.message,
  ).toBe('no browser')
})

test(
  'the key is that of the call, of configure, of login, of the environment, in this order',
  proving(['sandbox.configure', 'sandbox.auth.api-key', 'sandbox.cloud.base-url'], async () => {
    const home = sandboxHome({ BACKLOT_API_KEY: 'sk-environment' })
    const cloud = cloudOf(home)
    const used = () => cloud.requests.at(-1)?.authorization
    process.env.BACKLOT_BASE_URL = cloud.url
    expect(await codeOf(whoami())).toBe('unauthorized')
    expect(used()).toBe('Bearer sk-environment')
    await login({ open: (url) => void fetch(url) })
    await whoami()
    expect(used()).toBe(`Bearer ${key}`)
    configure({ apiKey: 'sk-configured' })
    expect(await codeOf(whoami())).toBe('unauthorized')
    expect(used()).toBe('Bearer sk-configured')
    expect(await codeOf(whoami({ apiKey: 'sk-argument' }))).toBe('unauthorized')
    expect(used()).toBe('Bearer sk-argument')
    configure({ apiKey: undefined })
    await whoami()
    expect(used()).toBe(`Bearer ${key}`)
    const other = cloudOf(home, 'sk-of-the-other')
    configure({ baseUrl: other.url })
    // The key of one cloud is not sent to another.
    expect(await codeOf(whoami())).toBe('unauthorized')
    expect(other.requests.at(-1)?.authorization).toBe('Bearer sk-environment')
  }),
)

test('without an address nothing is sent, and what is wrong is told without the key', async () => {
  const home = sandboxHome({ BACKLOT_API_KEY: key })
  for (const call of [
    () => whoami(),
    () => login({ open: () => undefined }),
    () => Sandbox.create(Image.desktop()),
    () => Sandbox.list(),
    () => Sandbox.getInfo('any'),
  ]) {
    const error = await errorOf(call())
    expect([error?.code, error?.message.includes('BACKLOT_BASE_URL')]).toEqual(['cloud_not_configured', true])
  }
  for (const baseUrl of [
    'cloud.example',
    'ftp://cloud.example',
    'https://me:secret@cloud.example',
    'https://c.example/?k=1',
  ]) {
    expect(() => configure({ baseUrl })).toThrow('"baseUrl" is no address')
  }
  expect(() => configure({ apiKey: `${key} \n` })).toThrow(expect.not.stringContaining(key))
  delete process.env.BACKLOT_API_KEY
  configure({ baseUrl: 'http://127.0.0.1:9' })
  expect(await codeOf(whoami())).toBe('no_api_key')
  const unreachable = await errorOf(whoami({ apiKey: key }))
  expect(unreachable).toMatchObject({ code: 'unreachable', retryable: true })
  expect(Bun.inspect(unreachable)).not.toContain(key)
  writeFileSync(join(home.folder, 'config'), '')
  expect(await codeOf(whoami())).toBe('permission_denied')
})

test(
  'what is asked of this machine needs no key, and is said once to be there where a cloud is named and nobody says where',
  proving(['sandbox.auth.local-needs-none', 'sandbox.parameters.local'], async () => {
    const { runtime } = sandboxHome()
    await using sandbox = await Sandbox.create(Image.desktop(), { local: true, runtime, name: 'here' })
    expect((await sandbox.shell.run('echo here')).stdout).toBe('here\n')
    expect((await Sandbox.list({ local: true })).map(({ name, source }) => [name, source])).toEqual([
      ['here', 'process'],
    ])
    const said: unknown[] = []
    const { error } = console
    console.error = (...words) => void said.push(words.join(' '))
    try {
      expect((await Sandbox.list()).map(({ name }) => name)).toEqual(['here'])
      expect(said).toEqual([])
      configure({ baseUrl: 'http://127.0.0.1:9' })
      for (let round = 0; round < 2; round++) expect((await Sandbox.list()).map(({ name }) => name)).toEqual(['here'])
    } finally {
      console.error = error
    }
    expect(said).toEqual([expect.stringContaining('a cloud is named and there is no key for it')])
  }),
)

test('a name is looked for here, then in the cloud, and options that exclude each other are refused', async () => {
  const home = sandboxHome()
  const cloud = cloudOf(home)
  configure({ apiKey: key, baseUrl: cloud.url })
  const image = Image.desktop()
  await (await Sandbox.create(image, { runtime: home.runtime, name: 'both' })).disconnect()
  await (await Sandbox.create(image, { name: 'both' })).disconnect()
  await (await Sandbox.create(image, { name: 'there' })).disconnect()
  const sources = async (options: object) =>
    Promise.all(['both', 'there'].map(async (name) => (await Sandbox.getInfo(name, options)).source))
  expect(await sources({})).toEqual(['process', 'cloud'])
  expect(await sources({ runtime: 'cloud' })).toEqual(['cloud', 'cloud'])
  expect(await codeOf(Sandbox.getInfo('there', { local: true }))).toBe('sandbox_not_found')
  configure({ runtime: home.runtime })
  expect(await codeOf(Sandbox.getInfo('there'))).toBe('sandbox_not_found')
  expect((await Sandbox.list()).map(({ source }) => source)).toEqual(['process'])
  for (const options of [
    { runtime: home.runtime, region: 'us-east-1' },
    { local: true, apiKey: 'k' },
    { local: true, runtime: 'cloud' },
    { runtime: 'podman' },
    { runtime: 'cloud', name: 'Not a name' },
  ]) {
    expect(await codeOf(Sandbox.create(image, options as object))).toBe('invalid_argument')
  }
  const unknown = await errorOf(Sandbox.create(image, { runtime: 'podman' } as object))
  expect(() => configure({ runtime: 'podman' as 'qemu' })).toThrow('There is no runtime "podman"')
  expect(unknown?.message).toContain('local, container, vmhost, qemu, kubernetes, emulator')
})
