import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placesOf } from '@backlot/contract/places'
import { type ListenOptions, listen } from './index.ts'

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
    await expect(start({ address: '192.0.2.1', key: 'k' })).rejects.toMatchObject({ code: 'cannot_listen' })
  })

  test('refuses to be reached from other machines without a key', async () => {
    for (const address of ['0.0.0.0', '::', '192.0.2.1', 'example.com', '127.0.0.1.example.com']) {
      await expect(start({ address })).rejects.toMatchObject({ code: 'key_required' })
    }
  })

  test('asks every caller for the key that it was given', async () => {
    await using service = await start({ address: '0.0.0.0', key: 'open sesame' })
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
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await fetch('http://localhost/svc/config', { unix: path })).status).toBe(200)
    await expect(start({ address: `unix:${path}` })).rejects.toMatchObject({ code: 'cannot_listen' })
    expect((await fetch('http://localhost/svc/config', { unix: path })).status).toBe(200)
    await service[Symbol.asyncDispose]()
    await expect(stat(path)).rejects.toThrow()
  })

  test('that a killed service left is replaced, and a file in its place is not', async () => {
    const path = join(home, 'stale.sock')
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
    await using service = await start({ address: `unix:${path}` })
    expect(service.url).toBe(`unix:${path}`)

    const file = join(home, 'file.sock')
    await writeFile(file, 'mine')
    await expect(start({ address: `unix:${file}` })).rejects.toMatchObject({ code: 'cannot_listen' })
    expect(await Bun.file(file).text()).toBe('mine')
  })
})
