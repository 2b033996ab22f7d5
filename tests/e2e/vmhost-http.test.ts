import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { version } from '@backlot/contract/version'
import { runBacklot } from '../support/backlot.ts'
import { exchange, type Sent, type ServerAt } from '../support/exchange.ts'
import { expectGolden } from '../support/golden.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'

/** Characters of a body that are kept whole, and those of a longer one: its beginning and its end. */
const longest = 2_000
const kept = { start: 500, end: 300 }

/** Texts that are others in every run, by what stands for them. */
const masks = (host: VmHost, text: string): string =>
  text
    .replaceAll(host.home, 'HOME')
    .replaceAll(`"${hostname().toLowerCase()}:${host.port}"`, '"MACHINE:PORT"')
    .replaceAll(`:${host.port}`, ':PORT')
    .replaceAll(`-${host.port}=`, '-PORT=')
    .replaceAll(version, 'VERSION')
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .replace(/link=[\w-]{32}/g, 'link=LINK')
    .replace(/=\d{10}\.[\w-]{43}/g, '=END.PROOF')
    .replace(/^id: \w+-/gm, 'id: RUN-')
    .replace(/^(Date|ETag): .*$/gim, '$1: …')

/** An exchange as text: what was sent, a line each with `> `, and what came, with `< `. */
const told = async (host: VmHost, at: ServerAt, line: string, sent: Sent): Promise<string> => {
  const answer = await exchange(at, line, sent)
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (length !== undefined && !line.startsWith('HEAD '))
    expect([line, Buffer.byteLength(body)]).toEqual([line, +length])
  // The numbers in the masked parts are of different lengths.
  const shownHead = masks(host, head).replace(/^(Content-Length): \d+$/im, '$1: …')
  const isScript = /^content-type: text\/javascript/im.test(head)
  const masked = isScript ? 'a script' : masks(host, body)
  const shown = masked.length > longest ? `${masked.slice(0, kept.start)}\n…\n${masked.slice(-kept.end)}` : masked
  const lines = [line, ...(sent.headers ?? []), ...(sent.body === undefined ? [] : ['', sent.body])]
  return [
    ...lines.flatMap((each) => each.split('\n')).map((each) => `> ${masks(host, each)}`),
    ...(answer === ''
      ? ['< (closed)']
      : `${shownHead}\r\n\r\n${shown}`.split(/\r?\n/).map((each) => `< ${each}`.trimEnd())),
    '',
  ].join('\n')
}

/** What every answer tells browsers stands in the first one alone, unless another tells something else. */
const shortened = (text: string): string => {
  const lines = /(^< (?:Content-Security-Policy|X-Content-Type-Options|Cross-Origin-[\w-]+|Referrer-Policy): .*\n){5}/m
  const usual = lines.exec(text)?.[0] ?? ''
  const after = text.indexOf(usual) + usual.length
  return text.slice(0, after) + text.slice(after).replaceAll(usual, '< (and those for browsers)\n')
}

/** Asks one thing after another, and gives the exchanges under a title. */
const asked = (title: string, host: VmHost, at: ServerAt, own: string) => {
  const parts = [`# ${title}\n`]
  return {
    async ask(line: string, headers: readonly string[] = [], more: Omit<Sent, 'headers'> = {}) {
      const all = headers.some((each) => each.startsWith('Host:')) ? headers : [`Host: ${own}`, ...headers]
      parts.push(await told(host, at, line, { headers: all, ...more }))
    },
    text: () => shortened(parts.join('\n')),
  }
}

const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const settings = { os: 'linux', cpu: 1, memory: '64MB', diskSize: '1GB', display: '800x600' }

test('a service on loopback answers as it always did', async () => {
  await using host = await startVmHost()
  const own = `127.0.0.1:${host.port}`
  const { ask, text } = asked('A service on loopback', host, host, own)
  for (const path of ['/', '/docs', '/openapi.json', '/console/style.css', '/console/docs.css', '/console/main.js']) {
    await ask(`GET ${path}`)
  }
  for (const name of ['index.html', 'refused.html', 'nothing.js', 'main.tsx', '..%2fbundle.ts', 'a/b']) {
    await ask(`GET /console/${name}`)
  }
  const tag = /^etag: (.*)$/im.exec(await exchange(host, 'GET /', { headers: [`Host: ${own}`] }))?.[1]
  expect(tag).toBeDefined()
  const cached = await exchange(host, 'GET /', { headers: [`Host: ${own}`, `If-None-Match: ${tag}`] })
  expect(cached).toStartWith('HTTP/1.1 304 ')
  await ask('GET /', ['If-None-Match: "other"'])
  for (const path of ['/svc/config', '/lume/config', '/svc/config/', '/svc/vms', '/svc/config?storage=x']) {
    await ask(`GET ${path}`)
  }
  for (const line of [
    'HEAD /',
    'HEAD /svc/config',
    'OPTIONS /svc/config',
    'OPTIONS *',
    'PUT /svc/config',
    'DELETE /svc/config',
    'TRACE /svc/config',
    'BREW /svc/config',
    'POST /',
    'GET /svc',
    'GET /nothing?key=value',
    'GET //svc/config',
    'GET /svc/../svc/nothing',
    'GET /svc/vms/nobody',
    'GET /svc/vms/..%2f..%2fetc',
    'GET /svc/vms/nobody/vnc',
    'GET /svc/operations/nothing',
    'GET /svc/logs?lines=many',
    'DELETE /svc/config/locations/%ff',
  ]) {
    await ask(line)
  }
  const preflight = ['Access-Control-Request-Method: PATCH', 'Origin: http://evil']
  await ask('OPTIONS /svc/vms', preflight)
  const post = (path: string, body?: string, headers: readonly string[] = []) =>
    ask(`POST ${path}`, headers, body === undefined ? {} : { body })
  for (const body of [undefined, '', '{"a":', '[]', '{"cachingEnabled":"true"}', '{"cachingEnabled":null}']) {
    await post('/svc/config', body)
  }
  await post('/svc/config', '{"cachingEnabled":true}', ['Content-Type: application/x-www-form-urlencoded'])
  await post('/svc/vms', JSON.stringify({ name: '../x', ...settings }))
  await post('/svc/vms', JSON.stringify({ name: 'one', ...settings }))
  await post('/svc/vms', JSON.stringify({ name: 'one', ...settings }))
  await post('/svc/vms/one/stop', '')
  await post('/svc/vms/nobody/run', '{"noDisplay":"yes"}')
  await post('/lume/vms/clone', '{"name":"one"}')
  await post('/svc/console/link')
  await ask('GET /svc/vms/one/vnc')
  await ask('GET /svc/vms/one/vnc', upgrade)
  await ask('GET /svc/vms/nobody/vnc', upgrade)
  await ask('GET /svc/config', upgrade)
  await ask('GET /svc/events', ['Last-Event-ID: nonsense'], { isEnough: (answer) => answer.includes('event: reset') })

  for (const foreign of ['rebound.example.com', '127.0.0.1', `localhost.:${host.port}`, '']) {
    await ask('GET /svc/config', [`Host: ${foreign}`])
  }
  await ask('GET /openapi.json', ['Host: evil'])
  await ask('GET /svc/config', [`Host: LOCALHOST:${host.port}`])
  for (const origin of ['null', 'http://evil', `https://${own}`, `http://${own}`]) {
    await ask('GET /svc/config', [`Origin: ${origin}`])
  }
  await ask('GET /openapi.json', ['Origin: null'])
  await ask('GET /svc/vms/one/vnc', ['Origin: http://evil', ...upgrade])
  for (const path of ['/', '/svc/vms', '/svc/events']) await ask(`GET ${path}`, ['Sec-Fetch-Site: cross-site'])
  await ask('GET /svc/config', ['Sec-Fetch-Site: same-site'])
  await ask('GET /svc/config', ['Authorization: Bearer anything', 'Cookie: backlot=1'])
  expectGolden('vmhost-http/loopback.txt', text())
})

test('a service with a token answers as it always did', async () => {
  await using home = await startVmHost()
  const file = join(home.home, 'token')
  await writeFile(file, 'open-sesame\n')
  await using host = await startVmHost(['--port', '0', '--token-file', file])
  const own = `127.0.0.1:${host.port}`
  const { ask, text } = asked('A service with a token', host, host, own)
  const html = 'Accept: text/html,*/*'
  const bearer = 'Authorization: Bearer open-sesame'
  for (const path of ['/', '/docs', '/openapi.json', '/console/main.js', '/nothing', '/svc/config', '/svc/events']) {
    await ask(`GET ${path}`)
    await ask(`GET ${path}`, [html])
  }
  for (const line of ['POST /', 'HEAD /', 'OPTIONS /svc/vms', 'PUT /svc/vms', 'POST /svc/console/link']) {
    await ask(line, [html])
  }
  for (const wrong of ['', 'Bearer', 'Bearer other', 'open-sesame', 'Basic open-sesame', 'bearer open-sesame']) {
    await ask('GET /svc/config', [`Authorization: ${wrong}`])
  }
  await ask('GET /svc/config', [bearer])
  await ask('GET /svc/config', [bearer, 'Origin: http://evil'])
  await ask('GET /svc/config', [bearer, 'Host: evil'])
  await ask('GET /svc/vms/nobody/vnc', upgrade)
  await ask('GET /?link=nothing', [html])
  await ask('POST /svc/console/link', [bearer])
  const made = await exchange(host, 'POST /svc/console/link', { headers: [`Host: ${own}`, bearer] })
  const link = `/?link=${/link=([\w-]+)/.exec(made)?.[1]}`
  await ask(`HEAD ${link}`)
  await ask(`GET ${link.replace('/?', '/svc/config?')}`)
  await ask(`GET ${link}`, [html])
  await ask(`GET ${link}`, [html])
  const again = await exchange(host, 'POST /svc/console/link', { headers: [`Host: ${own}`, bearer] })
  const visit = `/?link=${/link=([\w-]+)/.exec(again)?.[1]}`
  const entered = await exchange(host, `GET ${visit}`, { headers: [`Host: ${own}`] })
  const cookie = `Cookie: ${/^set-cookie: ([^;]+)/im.exec(entered)?.[1]}`
  const setDefault = 'POST /svc/config/locations/default/home'
  await ask('GET /svc/config', [cookie])
  await ask(setDefault, [cookie])
  await ask(setDefault, [cookie, `Origin: http://${own}`])
  await ask('GET /svc/vms/nobody/vnc', [cookie, ...upgrade])
  await ask('GET /svc/vms/nobody/vnc', [cookie, `Origin: http://${own}`, ...upgrade])
  await ask('GET /svc/config', ['Cookie: backlot=1'])
  expectGolden('vmhost-http/token.txt', text())
})

test('a service that other machines reach, and one on a Unix socket, answer as they always did', async () => {
  await using home = await startVmHost()
  const file = join(home.home, 'token')
  await writeFile(file, 'open-sesame\n')
  const flags = ['--host', '0.0.0.0', '--port', '0', '--token-file', file, '--name', 'vms.example.com']
  await using host = await startVmHost(flags)
  const far = asked('A service that other machines reach', host, host, `127.0.0.1:${host.port}`)
  const bearer = 'Authorization: Bearer open-sesame'
  for (const name of ['vms.example.com', `192.0.2.1:${host.port}`, `localhost:1`, 'rebound.example.com', '']) {
    await far.ask('GET /svc/config', [`Host: ${name}`, bearer])
  }
  await far.ask('POST /svc/console/link', [bearer])
  const path = join(home.home, 'host.sock')
  await using unix = await startVmHost(['--listen', `unix:${path}`])
  const near = asked('A service on a Unix socket', unix, { path }, 'localhost')
  for (const line of ['GET /svc/config', 'GET /', 'POST /svc/console/link', 'GET /svc/vms/nobody/vnc']) {
    await near.ask(line)
  }
  await near.ask('GET /svc/config', ['Host: evil'])
  await near.ask('GET /svc/config', ['Origin: http://localhost'])
  expectGolden('vmhost-http/places.txt', `${far.text()}\n${near.text()}`)
})

test('a service that cannot begin says why, as it always did', async () => {
  await using host = await startVmHost()
  const path = join(host.home, 'a-file')
  await writeFile(path, 'two words')
  await using unix = await startVmHost(['--listen', `unix:${join(host.home, 'host.sock')}`])
  const parts = ['# A service that cannot begin\n']
  for (const args of [
    ['--port', String(host.port)],
    ['--port', '70000'],
    ['--host', '0.0.0.0'],
    ['--host', 'example.com', '--port', '0'],
    ['--token-file', join(host.home, 'nothing')],
    ['--key-file', path],
    ['--listen', '/run/socket'],
    ['--listen', 'unix:/run/socket', '--name', 'x'],
    ['--listen', `unix:${path}`],
    ['--listen', unix.url],
    ['--listen', `unix:${join(host.home, 'no/folder')}`],
  ]) {
    const { status, stdout, stderr } = await runBacklot(['serve', ...args], { BACKLOT_HOME: host.home })
    const lines = [`> ${args.join(' ')}`, `< ${status}`, ...`${stdout}${stderr}`.trimEnd().split('\n')]
    parts.push(`${masks(host, lines.join('\n')).replaceAll(String(host.port), 'PORT')}\n`)
  }
  expectGolden('vmhost-http/refusals.txt', parts.join('\n'))
})
