import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpClient } from '@backlot/contract/client'
import { placesOf } from '@backlot/contract/places'
import { vmHost } from '@backlot/contract/vmhost'
import { type ListeningServer, listen } from '../index.ts'

let home: string
let service: ListeningServer
let port: number

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'backlot-app-'))
  service = await listen({ address: '127.0.0.1', port: 0, places: placesOf({ BACKLOT_HOME: home }), log: () => {} })
  port = Number(new URL(service.url).port)
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

/** Sends the bytes as they are and reads one answer, or what came before the service closed the connection. */
const exchange = (request: string): Promise<{ status: number; body: Record<string, unknown> | undefined }> =>
  new Promise((settle, fail) => {
    let text = ''
    const finish = () => {
      socket.destroy()
      const [head = '', body = ''] = text.split('\r\n\r\n')
      settle({
        status: Number(head.split(' ')[1] ?? 0),
        body: body.startsWith('{') ? JSON.parse(body) : undefined,
      })
    }
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.on('data', (data) => {
      text += data
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const length = /content-length: (\d+)/i.exec(head)?.[1]
      if (length !== undefined && Buffer.byteLength(body) >= Number(length)) finish()
    })
    socket.on('end', finish)
    socket.on('error', fail)
  })

const head = (start: string, ...headers: string[]): string =>
  `${[`${start} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers].join('\r\n')}\r\n\r\n`

const client = () => httpClient(vmHost, { baseUrl: `${service.url}/svc`, fetch })
const post = (path: string, body?: string) =>
  fetch(`${service.url}${path}`, { method: 'POST', ...(body === undefined ? {} : { body }) })

const json = async (answer: Response) => (await answer.json()) as Record<string, unknown>

describe('routes', () => {
  test('answer alike under both prefixes, with a slash at the end and a query', async () => {
    const plain = await (await fetch(`${service.url}/svc/config`)).text()
    for (const path of ['/lume/config', '/svc/config/', '/lume/config/?storage=x&storage']) {
      const answer = await fetch(service.url + path)
      expect([answer.status, await answer.text()]).toEqual([200, plain])
    }
  })

  test('are listed in the OpenAPI document', async () => {
    const document = await json(await fetch(`${service.url}/openapi.json`))
    expect(
      Object.entries(document.paths as object).map(([path, methods]) => `${path} ${Object.keys(methods as object)}`),
    ).toEqual([
      '/svc/vms get,post',
      '/svc/vms/{name} get,delete,patch',
      '/svc/vms/clone post',
      '/svc/vms/{name}/update post',
      '/svc/vms/{name}/run post',
      '/svc/vms/{name}/stop post',
      '/svc/vms/{name}/setup post',
      '/svc/vms/{name}/interfaces get',
      '/svc/vms/{name}/exec post',
      '/svc/images get',
      '/svc/ipsw get',
      '/svc/pull post',
      '/svc/pull/start post',
      '/svc/vms/push post',
      '/svc/images/import post',
      '/svc/prune post',
      '/svc/vms/{name}/suspend post',
      '/svc/vms/{name}/resume post',
      '/svc/vms/{name}/snapshots post,get',
      '/svc/vms/{name}/snapshots/{snapshot}/restore post',
      '/svc/vms/{name}/snapshots/{snapshot} delete',
      '/svc/vms/{name}/fork post',
      '/svc/vms/{name}/pool post',
      '/svc/templates get',
      '/svc/templates/{id} delete',
      '/svc/config get,post',
      '/svc/config/locations get,post',
      '/svc/config/locations/{name} delete',
      '/svc/config/locations/default/{name} post',
      '/svc/logs get',
      '/svc/host/status get',
      '/svc/operations get',
      '/svc/operations/{id} get,delete',
      '/svc/console/link post',
      '/svc/events get',
      '/svc/vms/{name}/vnc get',
      '/svc/vms/{name}/exec/stream post',
      '/svc/vms/{name}/exec/{inputId}/input post',
      '/svc/vms/{name}/files get,put,post',
      '/svc/vms/{name}/files/tar get,put,post',
    ])
    // What holds where a field is left out stands there too.
    const path = ['paths', '/svc/vms/{name}/run', 'post', 'requestBody', 'content', 'application/json', 'schema']
    expect(document).toHaveProperty([...path, 'properties', 'noDisplay', 'default'], false)
    expect(document).toHaveProperty([...path, 'properties', 'recoveryMode', 'default'], false)
  })

  test('that nobody declared answer 404, other methods too', async () => {
    for (const [method, path] of [
      ['POST', '/'],
      ['GET', '/console/../guard.ts'],
      ['GET', '/svc'],
      ['GET', '/svc/nothing'],
      ['GET', '/console/nothing.js'],
      ['PUT', '/svc/config'],
      ['OPTIONS', '/svc/config'],
    ] as const) {
      const answer = await fetch(service.url + path, { method })
      expect([answer.status, (await json(answer)).code]).toEqual([404, 'unknown_operation'])
    }
  })
})

test('files are of a VM that is called as VMs may be, wherever the name would lead', async () => {
  for (const name of ['..%2Fother%2Fone', '.template-0123456789abcdef']) {
    const answer = await fetch(`${service.url}/svc/vms/${name}/files?path=/etc/hosts`)
    expect([answer.status, (await json(answer)).code]).toEqual([400, 'invalid_argument'])
  }
})

describe('bodies', () => {
  test('that are absent, empty, not JSON or not an object are refused with the text that clients know', async () => {
    for (const body of [undefined, '', ' ', '{"a":', '[]', 'null', '"text"', 'a=b', '{"a":1}x', '\uFEFF{']) {
      const answer = await post('/svc/config', body)
      expect([body, answer.status, await answer.json()]).toEqual([
        body,
        400,
        { code: 'invalid_body', message: 'Invalid request body', detail: expect.any(String) },
      ])
    }
  })

  test('with a field of another type or without a required one name it', async () => {
    for (const [path, body, field] of [
      ['/svc/config', { cachingEnabled: 'true' }, 'cachingEnabled'],
      ['/svc/config', { homeDirectory: 7 }, 'homeDirectory'],
      ['/svc/config/locations', { name: 'ssd' }, 'path'],
      ['/svc/config/locations', { path: '/tmp/ssd', name: null }, 'name'],
      ['/svc/config/locations', { path: '/tmp/ssd', name: '../x' }, 'name'],
      ['/svc/config/locations', { path: '/tmp/ssd', name: 'x'.repeat(300) }, 'name'],
    ] as const) {
      const answer = await post(path, JSON.stringify(body))
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { code: 'invalid_body', message: 'Invalid request body', detail: expect.stringContaining(`"${field}"`) },
      ])
    }
  })

  test('may hold fields that are not declared, and null for one left out', async () => {
    const answer = await post(
      '/svc/config',
      '{"cachingEnabled":null,"toString":1,"__proto__":{"cachingEnabled":false}}',
    )
    expect([answer.status, await answer.json()]).toEqual([200, { message: 'Nothing to change' }])
    expect((await client().getConfig()).cachingEnabled).toBe(true)
  })

  test('are read as JSON whatever their media type, and up to one mebibyte', async () => {
    const form = await fetch(`${service.url}/svc/config`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: '{"cachingEnabled":true}',
    })
    expect(form.status).toBe(200)
    const padded = (length: number) => `{"cachingEnabled":true${' '.repeat(length - 23)}}`
    expect((await post('/svc/config', padded(1024 * 1024))).status).toBe(200)
    const long = await post('/svc/config', padded(1024 * 1024 + 1))
    expect([long.status, (await json(long)).code]).toEqual([400, 'invalid_body'])
  })

  test('that are announced beyond every limit are refused, not answered 413', async () => {
    const size = 4 * 1024 * 1024
    const answer = await exchange(`${head('POST /svc/config', `Content-Length: ${size}`)}${'x'.repeat(size)}`)
    expect([answer.status, answer.body?.code]).toEqual([400, 'invalid_body'])
  })

  test('are not asked of an operation that takes none', async () => {
    for (const body of [undefined, '', 'nonsense', '{"name":"other"}']) {
      expect((await post('/svc/config/locations/default/home', body)).status).toBe(200)
    }
  })
})

describe('odd requests', () => {
  test('are refused below 500', async () => {
    const cases: [string, number][] = [
      [head('TRACE /svc/config'), 404],
      [head('PROPFIND /svc/config'), 404],
      [head('CONNECT 127.0.0.1:80'), 404],
      [head('DELETE /svc/config/locations/%2e%2e'), 404],
      [head('DELETE /svc/config/locations/..'), 404],
      [head('DELETE /svc/config/locations/..%2F..%2Fetc'), 400],
      [head('DELETE /svc/config/locations/%ff'), 400],
      [head('DELETE /svc/config/locations/%'), 400],
      [head('DELETE /svc/config/locations/__proto__'), 400],
      [head('DELETE /svc/config/locations/ho%256de'), 400],
      [head('GET //svc/config'), 404],
      [head('GET /svc/../svc/nothing'), 404],
      [head('POST /svc/config', 'Content-Length: -1'), 400],
      [head('POST /svc/config', 'Content-Length: 1', 'Transfer-Encoding: chunked'), 400],
      [`GET /svc/config HTTP/1.1\r\n\r\n`, 400],
      [head('GET svc'), 400],
    ]
    for (const [request, status] of cases) {
      expect([request, (await exchange(request)).status]).toEqual([request, status])
    }
  })

  test('of an unknown method end the connection and leave the service alive', async () => {
    expect((await exchange(head('BREW /svc/config'))).status).toBe(0)
    expect((await exchange(head('GET /svc/config'))).status).toBe(200)
  })
})

describe('the guard', () => {
  test('refuses hosts that are not the address of the service', async () => {
    for (const host of [
      'rebound.example.com',
      `rebound.example.com:${port}`,
      '127.0.0.1',
      '127.0.0.1:1',
      'localhost',
      `localhost.:${port}`,
      `0.0.0.0:${port}`,
      `127.0.0.1:${port}@evil`,
      `user@127.0.0.1:${port}`,
      '',
      'a b',
    ]) {
      const answer = await exchange(`GET /svc/config HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      expect([host, answer.status, answer.body?.code]).toEqual([host, 400, 'foreign_host'])
    }
    for (const host of [`LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
      expect((await exchange(`GET /svc/config HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status).toBe(200)
    }
  })

  test('refuses two hosts, and a target with a host of its own', async () => {
    const two = await exchange(head('GET /svc/config', 'Host: evil'))
    expect([two.status, two.body?.code]).toEqual([400, 'foreign_host'])
    const same = await exchange(head('GET /svc/config', `Host: 127.0.0.1:${port}`))
    expect([same.status, same.body?.code]).toEqual([400, 'foreign_host'])
    const absolute = await exchange(`GET http://127.0.0.1:${port}/svc/config HTTP/1.1\r\nHost: evil\r\n\r\n`)
    expect([absolute.status, absolute.body?.code]).toEqual([400, 'foreign_host'])
    expect((await exchange('GET /svc/config HTTP/1.0\r\n\r\n')).status).toBe(400)
  })

  test('refuses every origin but its own, before the body is read', async () => {
    for (const origin of [
      'null',
      '',
      'http://127.0.0.1',
      'http://127.0.0.1:1',
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}.evil`,
      `http://127.0.0.1:${port}/`,
      'file://',
    ]) {
      const answer = await exchange(head('POST /svc/config', `Origin: ${origin}`, 'Content-Length: 1000'))
      expect([origin, answer.status, answer.body?.code]).toEqual([origin, 400, 'foreign_origin'])
    }
    const own = `Origin: http://127.0.0.1:${port}`
    expect((await exchange(head('GET /svc/config', own))).status).toBe(200)
    expect((await exchange(head('GET /svc/config', own, own))).status).toBe(400)
  })

  test('refuses what a browser sends for another site, with an origin or without', async () => {
    for (const request of ['GET /', 'GET /svc/vms', 'GET /svc/events', 'POST /svc/config']) {
      for (const own of [[], [`Origin: http://127.0.0.1:${port}`]]) {
        const answer = await exchange(head(request, 'Sec-Fetch-Site: cross-site', 'Content-Length: 0', ...own))
        expect([request, answer.status >= 400, answer.body?.code]).toEqual([request, true, 'foreign_origin'])
      }
    }
    for (const site of ['none', 'same-origin', 'same-site']) {
      expect((await exchange(head('GET /svc/config', `Sec-Fetch-Site: ${site}`))).status).toBe(200)
    }
  })

  test('refuses a WebSocket handshake of another origin', async () => {
    const answer = await exchange(
      head(
        'GET /svc/config',
        'Origin: http://evil',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ),
    )
    expect([answer.status, answer.body?.code]).toEqual([400, 'foreign_origin'])
  })

  test('answers routes of our own as the web does', async () => {
    const host = await exchange('GET /openapi.json HTTP/1.1\r\nHost: evil\r\n\r\n')
    const origin = await exchange(head('GET /openapi.json', 'Origin: null'))
    expect([host.status, origin.status]).toEqual([403, 403])
  })
})

describe('the typed client', () => {
  test('sends path, query and body where they belong and gives results', async () => {
    const path = join(home, 'disks')
    expect(await client().addLocation({ name: 'disks', path })).toEqual({
      message: 'Location added: disks',
      name: 'disks',
      path,
    })
    expect((await client().listLocations()).map(({ name }) => name)).toEqual(['disks', 'home'])
    expect((await client().setDefaultLocation({ name: 'disks' })).message).toContain('disks')
    expect((await client().getConfig()).defaultLocationName).toBe('disks')
    await client().setDefaultLocation({ name: 'home' })
    await client().removeLocation({ name: 'disks' })
    expect(JSON.parse(await readFile(join(home, 'config/vmhost.json'), 'utf8'))).toMatchObject({
      locations: [],
      defaultLocationName: 'home',
    })
  })

  test('throws what the service refuses, percent-encoding what stands in a path', async () => {
    await expect(client().removeLocation({ name: 'a/../../b?c#d' })).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(client().removeLocation({ name: 'nothing' })).rejects.toMatchObject({ code: 'location_not_found' })
    await expect(client().removeLocation({ name: '..' })).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  test('says that there is no VM host where another server or none answers', async () => {
    await using other = Bun.serve({ port: 0, fetch: () => new Response('<html>') })
    for (const baseUrl of [`http://127.0.0.1:${other.port}/svc`, 'http://127.0.0.1:1/svc']) {
      await expect(httpClient(vmHost, { baseUrl, fetch }).getConfig()).rejects.toMatchObject({
        code: 'host_unreachable',
      })
    }
  })
})
