import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { openSocket, post, startComputer } from '../support/computer.ts'

const key = 'open-sesame'

/** A server that asks for the key, which a file holds. */
const behindKey = async (args: readonly string[] = []) => {
  const folder = await mkdtemp(join(tmpdir(), 'computer-key-'))
  await writeFile(join(folder, 'key'), `${key}\n`)
  try {
    return await startComputer(['--port', '0', '--key-file', join(folder, 'key'), ...args])
  } finally {
    await rm(folder, { recursive: true })
  }
}

const statusOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).status

describe('with a key', () => {
  test('every route but /status asks for it, in either header', async () => {
    await using computer = await behindKey()
    expect(await statusOf(`${computer.url}/status`)).toBe(200)
    for (const [method, path] of [
      ['GET', '/commands'],
      ['GET', '/docs'],
      ['GET', '/openapi.json'],
      ['POST', '/cmd'],
      ['POST', '/pty'],
      ['GET', '/pty/1/stream'],
      ['GET', '/pty/1/ws'],
      ['GET', '/files?path=/etc/hostname'],
      ['PUT', '/files?path=/tmp/x'],
      ['GET', '/files/tar?path=/etc'],
      ['POST', '/mcp'],
      ['GET', '/view'],
      ['GET', '/view/screen'],
      ['GET', '/view/files/main.js'],
      ['POST', '/view/link'],
      ['GET', '/nothing'],
    ] as const) {
      expect([path, await statusOf(computer.url + path, { method })]).toEqual([path, 401])
    }
    const refused = await post(computer.url, { command: 'version' })
    expect(await refused.json()).toMatchObject({ detail: 'API key required' })
    const wrong = await post(computer.url, { command: 'version' }, { 'X-API-Key': 'open' })
    expect([wrong.status, await wrong.json()]).toMatchObject([401, { detail: 'Authentication failed' }])
    for (const headers of [{ 'X-API-Key': key }, { Authorization: `Bearer ${key}` }]) {
      expect((await post(computer.url, { command: 'version' }, headers as Record<string, string>)).status).toBe(200)
    }
    expect(computer.log()).not.toContain(key)
  })

  test('a key file that changes is read again, and while it holds no key the one before is asked for', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'computer-key-'))
    const file = join(folder, 'key')
    try {
      await writeFile(file, key)
      await using computer = await startComputer(['--port', '0', '--key-file', file])
      const answers = async (shown: string) =>
        (await post(computer.url, { command: 'version' }, { 'X-API-Key': shown })).status
      expect(await answers(key)).toBe(200)
      await writeFile(file, 'shut-sesame\n')
      expect([await answers(key), await answers('shut-sesame')]).toEqual([401, 200])
      for (const none of ['', 'two words']) {
        await writeFile(file, none)
        expect([none, await answers('shut-sesame'), await answers('')]).toEqual([none, 200, 401])
      }
      await rm(file)
      expect(await answers('shut-sesame')).toBe(200)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('a socket shows it in the handshake or in its first message', async () => {
    await using computer = await behindKey()
    const authenticate = (api_key: string) => ({ command: 'authenticate', params: { api_key, container_name: 'me' } })
    const known = await openSocket(computer.url, { Authorization: `Bearer ${key}` })
    expect(await known.ask({ command: 'version' })).toMatchObject({ success: true })
    expect(await known.ask(authenticate('whatever'))).toMatchObject({ success: true })
    await known[Symbol.asyncDispose]()
    const unknown = await openSocket(computer.url)
    expect(await unknown.ask(authenticate(key))).toEqual({ success: true })
    expect(await unknown.ask({ command: 'version' })).toMatchObject({ success: true })
    await unknown[Symbol.asyncDispose]()
    for (const message of [authenticate('open'), { command: 'run_command', params: { command: 'true' } }]) {
      await using socket = await openSocket(computer.url)
      expect(await socket.ask(message)).toMatchObject({ success: false, code: 'unauthorized' })
      socket.send({ command: 'version' })
      await expect(socket.next()).rejects.toThrow('closed')
    }
  })

  test('a browser enters by a link, once', async () => {
    await using computer = await behindKey()
    const answer = await fetch(`${computer.url}/view/link`, { method: 'POST', headers: { 'X-API-Key': key } })
    const { url } = (await answer.json()) as { url: string }
    const first = await fetch(url)
    expect(first.status).toBe(200)
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(await statusOf(`${computer.url}/view`, { headers: { Cookie: cookie } })).toBe(200)
    expect(await statusOf(url)).toBe(401)
    expect(computer.log()).toContain('/view?link=')
  })

  test('it may stand in the environment, and never among the arguments', async () => {
    await using computer = await startComputer(['--port', '0'], { BACKLOT_COMPUTER_KEY: key })
    expect((await post(computer.url, { command: 'version' })).status).toBe(401)
    const { stderr, status } = await runBacklot(['computer', '--port', '0', '--key', key])
    expect([status, stderr]).toEqual([64, expect.stringContaining('--key')])
  })
})

describe('without a key', () => {
  test('pages of others, other names and bodies that are no JSON are refused', async () => {
    await using computer = await startComputer(['--port', '0'])
    const message = { command: 'version' }
    for (const headers of [
      { Origin: 'http://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://127.0.0.1:1' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { Host: 'rebound.example' },
    ]) {
      const { status } = await post(computer.url, message, headers as Record<string, string>)
      expect([headers, status]).toEqual([headers, 403])
    }
    const text = await fetch(`${computer.url}/cmd`, {
      method: 'POST',
      headers: { Origin: computer.url, 'Content-Type': 'text/plain' },
      body: JSON.stringify(message),
    })
    expect(text.status).toBe(415)
    // Programs send what they like.
    expect(await statusOf(`${computer.url}/cmd`, { method: 'POST', body: JSON.stringify(message) })).toBe(200)
  })

  test('it listens beyond this machine only when it is told to be open', async () => {
    const { stderr, status } = await runBacklot(['computer', '--port', '0', '--host', '0.0.0.0'])
    expect([status, stderr]).toEqual([1, expect.stringMatching(/token_required|--key-file/)])
    await using computer = await startComputer(['--port', '0', '--host', '0.0.0.0', '--open'])
    expect(computer.log()).toContain('without a key')
    const url = computer.url.replace('0.0.0.0', '127.0.0.1')
    expect((await post(url, { command: 'version' })).status).toBe(200)
    expect((await post(url, { command: 'version' }, { Origin: 'http://evil.example' })).status).toBe(403)
  })
})

test('a Unix socket serves its owner', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'computer-unix-'))
  const unix = join(folder, 'socket')
  await using computer = await startComputer(['--listen', `unix:${unix}`])
  expect(computer.url).toBe(`unix:${unix}`)
  const answer = await fetch('http://localhost/cmd', {
    unix,
    method: 'POST',
    body: '{"command":"version"}',
  } as RequestInit)
  expect(await answer.text()).toContain('"success":true')
  await rm(folder, { recursive: true })
})
