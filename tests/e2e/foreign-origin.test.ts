import { describe, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { small } from '../support/vms.ts'

const page = join(import.meta.dir, '../support/fixtures/foreign-page.js')

/** Opens the page in a browser and gives how each attempt to send `body` ended, as the page sees it. */
const attemptsOn = async (targets: readonly string[], body: string): Promise<Record<string, string>> => {
  const attempts: Record<string, string> = {}
  const done = Promise.withResolvers<void>()
  await using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/page.js') return new Response(Bun.file(page))
      if (pathname !== '/report') return html('<!doctype html><body><script type=module src=page.js></script>')
      const { name, outcome } = (await request.json()) as { name: string; outcome: string }
      if (name === 'done') done.resolve()
      else attempts[name] = outcome
      return new Response()
    },
  })
  const address = new URL(`http://127.0.0.1:${server.port}/`)
  for (const target of targets) address.searchParams.append('target', target)
  address.searchParams.set('body', body)
  const profile = await mkdtemp(join(tmpdir(), 'backlot-browser-'))
  const browser = Bun.spawn(['chromium', ...flags, `--user-data-dir=${profile}`, address.href], {
    // One that is killed leaves its lock there.
    env: { ...process.env, TMPDIR: profile },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  try {
    const ended = browser.exited.then((status) => Promise.reject(new Error(`the browser ended with ${status}`)))
    await Promise.race([done.promise, ended])
  } finally {
    browser.kill('SIGKILL')
    await browser.exited
    await until('the end of all of the browser', () => Bun.spawnSync(['pgrep', '-f', profile]).exitCode === 1)
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
  return attempts
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--no-proxy-server',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Stands for a name whose owner has pointed it at this machine: DNS rebinding.
  '--host-resolver-rules=MAP rebound.test 127.0.0.1',
]

const html = (text: string): Response => new Response(text, { headers: { 'Content-Type': 'text/html' } })

/** How each attempt ends, as the page sees it. */
const outcomes = {
  'fetch, no-cors, text': 'refused: TypeError',
  'fetch, no-cors, blob': 'refused: TypeError',
  'fetch, no-cors, no referrer': 'refused: TypeError',
  'fetch, no-cors, no body': 'refused: TypeError',
  'fetch, cors, text': 'refused: TypeError',
  'fetch, cors, JSON': 'refused: TypeError',
  'fetch, cors, DELETE': 'refused: TypeError',
  'fetch, cors, GET': 'refused: TypeError',
  XMLHttpRequest: 'error',
  'sendBeacon, text': 'true',
  'sendBeacon, blob': 'true',
  form: 'answer shown after load',
  'form in a sandboxed frame': 'answer shown after load',
  image: 'error',
  WebSocket: 'error',
  'run a VM': 'refused: TypeError',
  'delete a VM': 'refused: TypeError',
  'a link to the console': 'refused: TypeError',
  'the screen of a VM': 'error',
  'the events': 'error',
}

describe('a page of another origin in a real browser', () => {
  test('changes nothing, neither the configuration nor a VM', async () => {
    await using host = await startVmHost()
    const config = async () => await (await fetch(`${host.url}/svc/config`)).json()
    const change = async (path: string, body: string) =>
      (await fetch(`${host.url}/svc${path}`, { method: 'POST', body })).status
    await change('/config/locations', JSON.stringify({ name: 'other', path: join(host.home, 'other') }))
    const one = { name: 'one', os: 'linux', cpu: 1, memory: '64MB', diskSize: '1GB', display: '800x600' }
    expect(await change('/vms', JSON.stringify(one))).toBe(200)
    const vms = async () => await (await fetch(`${host.url}/svc/vms`)).json()
    const file = join(host.home, 'config/vmhost.json')
    const before = { config: await config(), file: await readFile(file, 'utf8'), vms: await vms() }
    const logged = host.log().length
    const requests = () =>
      host
        .log()
        .slice(logged)
        .trim()
        .split('\n')
        .map((line) => line.split(' ').slice(1, 4).join(' '))

    const names = ['127.0.0.1', 'localhost', 'rebound.test']
    const evil = { cacheDirectory: join(host.home, 'evil'), cachingEnabled: false }
    const attempts = await attemptsOn(
      names.map((name) => `http://${name}:${host.port}`),
      JSON.stringify(evil),
    )
    console.info(attempts)
    expect(attempts).toEqual(
      Object.fromEntries(
        names.flatMap((name) => Object.entries(outcomes).map(([attempt, end]) => [`${attempt} -> ${name}`, end])),
      ),
    )
    // All of them did reach the service: what kept the configuration is the service, not the browser.
    const arrived = Object.keys(outcomes).length * names.length
    await until('every attempt to be logged', () => requests().length >= arrived)
    const refused = requests().filter((request) => / 40[03]$/.test(request))
    // Browsers send no `Origin` with an image: one of the same site is answered, shows nothing and changes nothing.
    const images = requests().filter((request) => request === 'GET /svc/config 200')
    expect([requests().length, refused.length, images.length]).toEqual([arrived, arrived - 1, 1])

    expect({ config: await config(), file: await readFile(file, 'utf8'), vms: await vms() }).toEqual(before)
    // The same bytes from a program do change it.
    expect(await change('/config', JSON.stringify(evil))).toBe(200)
    expect(await config()).toMatchObject(evil)
  })
})

describe('the screen of a VM behind a token', () => {
  /** The first bytes that a screen says to a WebSocket, or that it was refused. */
  const greeting = (host: VmHost, headers: Record<string, string>): Promise<string> =>
    new Promise((settle) => {
      const socket = new WebSocket(`${host.url.replace('http', 'ws')}/svc/vms/one/vnc`, { headers } as never)
      socket.binaryType = 'arraybuffer'
      socket.onmessage = ({ data }) => {
        settle(Buffer.from(data).toString('latin1', 0, 4))
        socket.close()
      }
      socket.onerror = () => settle('refused')
    })

  test('is given to who has the token, and to our own page after its link', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'backlot-token-'))
    await writeFile(join(folder, 'token'), 'open-sesame')
    await using host = await startVmHost(['--port', '0', '--token-file', join(folder, 'token')])
    await rm(folder, { recursive: true })
    const token = { Authorization: 'Bearer open-sesame' }
    const ask = async (method: string, path: string, body?: unknown) =>
      fetch(`${host.url}/svc${path}`, {
        method,
        headers: token,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    expect((await ask('POST', '/vms', { ...small, name: 'one', memory: '32MB' })).status).toBe(200)
    expect((await ask('POST', '/vms/one/run')).status).toBe(202)
    await until(
      'its screen',
      async () => ((await (await ask('GET', '/vms/one')).json()) as { vncUrl: string | null }).vncUrl,
    )
    const { url } = (await (await ask('POST', '/console/link')).json()) as { url: string }
    const cookie = (await fetch(url)).headers.get('set-cookie')?.split(';')[0] ?? ''

    expect(await greeting(host, token)).toBe('RFB ')
    expect(await greeting(host, { Cookie: cookie, Origin: host.url })).toBe('RFB ')
    for (const headers of [
      {},
      { Origin: host.url },
      { Authorization: 'Bearer open' },
      { Cookie: cookie },
      { Cookie: cookie, Origin: 'http://127.0.0.1:1' },
      { ...token, Origin: 'http://rebound.test' },
      { ...token, Host: 'rebound.test' },
    ]) {
      expect([headers, await greeting(host, headers as Record<string, string>)]).toEqual([headers, 'refused'])
    }
  })
})
