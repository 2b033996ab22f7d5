import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placesOf } from '@backlot/contract/places'
import { type ListenOptions, listen } from '../index.ts'

let home: string
const lines: string[] = []

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'backlot-listen-'))
})

afterAll(() => rm(home, { recursive: true, force: true }))

const start = (options: Partial<ListenOptions>) =>
  listen({
    address: '127.0.0.1',
    port: 0,
    places: placesOf({ BACKLOT_HOME: home }),
    log: (line) => void lines.push(line),
    ...options,
  })

describe('listen', () => {
  test('gives its address, logs requests without their query and ends twice', async () => {
    const service = await start({})
    expect((await fetch(`${service.url}/svc/config?storage=secret`)).status).toBe(200)
    expect(lines.at(-1)).toMatch(/^GET \/svc\/config 200 \d+ ms$/)
    await service[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
    await expect(fetch(`${service.url}/svc/config`)).rejects.toThrow()
  })

  test('listens on IPv6 loopback under that name', async () => {
    await using service = await start({ address: '::1' })
    expect(service.url).toStartWith('http://[::1]:')
    expect((await fetch(`${service.url}/svc/config`)).status).toBe(200)
  })

  test('refuses an address that is taken or none of this machine', async () => {
    await using first = await start({})
    const port = Number(new URL(first.url).port)
    await expect(start({ port })).rejects.toMatchObject({
      code: 'cannot_listen',
      message: expect.stringContaining(`"127.0.0.1:${port}"`),
    })
    await expect(start({ address: '192.0.2.1', token: 'k' })).rejects.toMatchObject({ code: 'cannot_listen' })
  })

  test('refuses to be reached from other machines without a token', async () => {
    for (const address of ['0.0.0.0', '::', '192.0.2.1', 'example.com', '127.0.0.1.example.com']) {
      await expect(start({ address })).rejects.toMatchObject({ code: 'token_required' })
    }
  })

  test('asks every caller for the token that it was given', async () => {
    await using service = await start({ address: '0.0.0.0', token: 'open sesame' })
    const url = service.url.replace('0.0.0.0', '127.0.0.1')
    const ask = async (authorization: string | undefined, path = '/svc/config') => {
      const headers: Record<string, string> = authorization === undefined ? {} : { Authorization: authorization }
      const answer = await fetch(url + path, { headers })
      return [answer.status, ((await answer.json()) as Record<string, unknown>).code]
    }
    for (const wrong of [undefined, '', 'Bearer', 'Bearer open', 'open sesame', 'Basic open sesame']) {
      expect([wrong, ...(await ask(wrong))]).toEqual([wrong, 400, 'unauthorized'])
    }
    expect(await ask(undefined, '/openapi.json')).toEqual([401, 'unauthorized'])
    expect(await ask('Bearer open sesame')).toEqual([200, undefined])
    const page = await fetch(`${url}/svc/config`, {
      headers: { Authorization: 'Bearer open sesame', Origin: 'http://evil' },
    })
    expect(page.status).toBe(400)
    expect(lines.join('\n')).not.toContain('sesame')
  })

  test('lets a browser in by a link, once, and by its cookie from then on', async () => {
    await using service = await start({ token: 'open-sesame' })
    const own = new URL(service.url).origin
    const link = service.newLink() ?? ''
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?link=[\w-]{32}$/)
    // Only the page is opened by a link, and looking at it is no use of it.
    for (const wrong of [link.replace('/?', '/svc/config?'), `${own}/?link=nothing`]) {
      expect([wrong, (await fetch(wrong)).status]).toEqual([wrong, wrong.includes('/svc') ? 400 : 401])
    }
    expect((await fetch(link, { method: 'HEAD' })).status).toBe(401)
    const cookie = (await fetch(link)).headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/)
    expect((await fetch(link)).status).toBe(401)
    const ask = async (method: string, path: string, headers: Record<string, string>) => {
      const answer = await fetch(own + path, { method, headers: { Cookie: cookie.split(';')[0] ?? '', ...headers } })
      return answer.status
    }
    const setDefault = '/svc/config/locations/default/home'
    expect(await ask('GET', '/svc/config', {})).toBe(200)
    expect(await ask('POST', setDefault, { Origin: own })).toBe(200)
    // A browser that sends a cookie says whose page it is.
    expect(await ask('POST', setDefault, {})).toBe(400)
    expect(await ask('GET', '/svc/config', { Upgrade: 'websocket', Connection: 'Upgrade' })).toBe(400)
    expect(await ask('GET', '/svc/config', { Upgrade: 'websocket', Connection: 'Upgrade', Origin: own })).toBe(200)
    expect(await ask('GET', '/svc/config', { Cookie: 'backlot=1' })).toBe(400)
    expect(lines.join('\n')).not.toContain(link.split('=')[1] ?? '')
  })

  test('answers nothing without the token, whatever is asked', async () => {
    await using service = await start({ token: 'open-sesame' })
    const open = { Authorization: 'Bearer open-sesame' }
    const document = (await (await fetch(`${service.url}/openapi.json`, { headers: open })).json()) as {
      paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
    }
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({ method, path, documented: Object.keys(responses) })),
    )
    expect(routes.length).toBeGreaterThan(20)
    for (const prefix of ['/svc', '/lume']) {
      for (const { method, path, documented } of routes) {
        const url = service.url + path.replace('/svc', prefix).replace(/\{\w+\}/g, 'x')
        const answer = await fetch(url, { method: method.toUpperCase() })
        const { code } = (await answer.json()) as { code: string }
        const status = documented.includes('401') ? 401 : 400
        expect([url, method, answer.status, code]).toEqual([url, method, status, 'unauthorized'])
      }
    }
    for (const prefix of ['/svc', '/lume']) {
      for (const [method, path, headers] of [
        ['GET', '/vms/x/vnc', { Upgrade: 'websocket', Connection: 'Upgrade' }],
        ['GET', '/events', { Upgrade: 'websocket', Connection: 'Upgrade' }],
        ['GET', '/vms/x/vnc?token=open-sesame', { Authorization: 'Basic open-sesame' }],
        ['GET', '/events', { Accept: 'text/event-stream', Authorization: 'Bearer open-sesam' }],
        ['POST', '/vms/x/update', { Authorization: 'open-sesame' }],
        ['HEAD', '/vms', {}],
        ['OPTIONS', '/vms', { 'Access-Control-Request-Method': 'PATCH' }],
        ['PUT', '/vms', {}],
      ] as const) {
        const { status } = await fetch(service.url + prefix + path, { method, headers })
        expect([method, path, [400, 401].includes(status)]).toEqual([method, path, true])
      }
    }
    for (const path of ['/', '/docs', '/openapi.json', '/console/index.html', '/console/main.js', '/nothing']) {
      expect([path, (await fetch(service.url + path)).status]).toEqual([path, 401])
    }
  })

  test('makes links for those who hold the token', async () => {
    await using service = await start({ token: 'open-sesame' })
    const make = async (headers: Record<string, string>) => {
      const answer = await fetch(`${service.url}/svc/console/link`, { method: 'POST', headers })
      return [answer.status, await answer.json()] as [number, { url: string }]
    }
    expect((await make({}))[0]).toBe(401)
    const [status, { url }] = await make({ Authorization: 'Bearer open-sesame' })
    expect([status, new URL(url).origin]).toEqual([200, service.url])
    expect((await fetch(url)).headers.has('set-cookie')).toBe(true)
    await using open = await start({})
    const plain = await fetch(`${open.url}/svc/console/link`, { method: 'POST' })
    expect(await plain.json()).toEqual({ url: `${open.url}/` })
    expect(open.newLink()).toBeUndefined()
  })

  test('is known beyond loopback by addresses and its own names alone', async () => {
    await using service = await start({ address: '0.0.0.0', token: 'open-sesame', names: ['vms.example.com'] })
    const port = new URL(service.url).port
    const ask = async (host: string) => {
      const headers = { Host: host, Authorization: 'Bearer open-sesame' }
      return (await fetch(`http://127.0.0.1:${port}/svc/config`, { headers })).status
    }
    expect(await ask(`vms.example.com:${port}`)).toBe(200)
    expect(await ask(`192.0.2.1:${port}`)).toBe(200)
    expect(await ask(`rebound.example.com:${port}`)).toBe(400)
  })

  test('tells browsers with every answer what they may do with it', async () => {
    await using service = await start({})
    for (const path of ['/svc/config', '/svc/nothing', '/openapi.json']) {
      const { headers } = await fetch(service.url + path)
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
    }
  })

  test('says at its start when its settings are damaged', async () => {
    const places = placesOf({ BACKLOT_HOME: join(home, 'damaged') })
    await mkdir(places.config, { recursive: true })
    await writeFile(join(places.config, 'vmhost.json'), '{')
    await expect(start({ places })).rejects.toMatchObject({ code: 'config_unreadable' })
  })
})

describe('a Unix socket', () => {
  test('belongs to its owner alone, answers, and goes with the service', async () => {
    const path = join(home, 'host.sock')
    const service = await start({ address: `unix:${path}` })
    expect(service.url).toBe(`unix:${path}`)
    const link = await fetch('http://localhost/svc/console/link', { unix: path, method: 'POST' })
    expect([link.status, await link.json()]).toMatchObject([400, { code: 'no_console' }])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await fetch('http://localhost/svc/config', { unix: path })).status).toBe(200)
    await expect(start({ address: `unix:${path}` })).rejects.toMatchObject({ code: 'cannot_listen' })
    expect((await fetch('http://localhost/svc/config', { unix: path })).status).toBe(200)
    await service[Symbol.asyncDispose]()
    await expect(stat(path)).rejects.toThrow()
  })

  /** Leaves a socket at the path on which nobody listens any more. */
  const leaveStale = async (path: string) => {
    const child = Bun.spawn(
      [
        process.execPath,
        '-e',
        'Bun.serve({ unix: process.argv[1], fetch: () => new Response() }); console.log("up")',
        path,
      ],
      { stdout: 'pipe' },
    )
    await child.stdout.getReader().read()
    child.kill('SIGKILL')
    await child.exited
    expect((await stat(path)).isSocket()).toBe(true)
  }

  test('that a killed service left is replaced, and a file in its place is not', async () => {
    const path = join(home, 'stale.sock')
    await leaveStale(path)
    await using service = await start({ address: `unix:${path}` })
    expect(service.url).toBe(`unix:${path}`)

    const file = join(home, 'file.sock')
    await writeFile(file, 'mine')
    await expect(start({ address: `unix:${file}` })).rejects.toMatchObject({ code: 'cannot_listen' })
    expect(await Bun.file(file).text()).toBe('mine')
  })

  test('that was left is taken by one of the services that start at once', async () => {
    const path = join(home, 'race.sock')
    await leaveStale(path)
    const started = await Promise.allSettled(Array.from({ length: 4 }, () => start({ address: `unix:${path}` })))
    const up = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    try {
      expect(up).toHaveLength(1)
      const codes = started.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
      expect(codes).toEqual(Array(3).fill('cannot_listen'))
      expect((await fetch('http://localhost/svc/config', { unix: path })).status).toBe(200)
    } finally {
      for (const service of up) await service[Symbol.asyncDispose]()
    }
    expect(readdirSync(home).filter((name) => name.startsWith('race.sock'))).toEqual([])
  })
})
