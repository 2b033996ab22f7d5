import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askAgent, sendToAgent } from './agent.ts'

let folder: string
let server: Server | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-agent-'))
})

afterEach(() => {
  server?.close()
  server = undefined
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/**
 * An agent behind a QEMU's port, as slow as a real one is in a busy guest, which cannot be brought to it at will. It
 * answers one question after the other, whoever asked and whether or not he still listens; while nobody does, its
 * answers wait for the next caller. The first `lost` questions never reach it, as when a guest starts anew.
 */
const fakeAgent = async (delayMs: number, lost = 0): Promise<{ path: string; asked: string[] }> => {
  const path = join(folder, crypto.randomUUID())
  const asked: string[] = []
  let caller: Socket | undefined
  let held: Buffer[] = []
  let turn = Promise.resolve()
  const give = (bytes: Buffer) => {
    if (caller === undefined) held.push(bytes)
    else caller.write(bytes)
  }
  const answer = (line: string) => {
    const { execute, arguments: given } = JSON.parse(line.replace(/^.*\xff/, ''))
    asked.push(execute)
    if (execute === 'guest-sync-delimited') {
      if (lost-- > 0) return
      give(Buffer.from(`{"error": {"desc": "stray"}}\n\xff{"return": ${given.id}}\n`, 'latin1'))
    } else give(Buffer.from(`{"return": ${JSON.stringify(given)}}\n`))
  }
  server = createServer((socket) => {
    caller = socket
    for (const bytes of held) socket.write(bytes)
    held = []
    let text = ''
    socket.on('data', (part) => {
      const lines = (text + part.toString('latin1')).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) turn = turn.then(() => Bun.sleep(delayMs)).then(() => answer(line))
    })
    socket.on('close', () => {
      if (caller === socket) caller = undefined
    })
  })
  await new Promise<void>((settle) => server?.listen(path, settle))
  return { path, asked }
}

/** Asks and goes away at once, as a caller does whose time is over. */
const askAndLeave = (path: string): Promise<void> =>
  new Promise((settle) => {
    const socket = connect(path, () =>
      socket.end(Buffer.from('\xff{"execute":"guest-sync-delimited","arguments":{"id":1}}\n', 'latin1'), settle),
    )
  })

/** How long a test waits for an agent, in all. */
const patience = () => ({ until: Date.now() + 4_000, isGone: () => false })

test('answers to those who went away are read over', async () => {
  const { path } = await fakeAgent(100)
  for (let index = 0; index < 3; index++) await askAndLeave(path)
  expect(await askAgent(path, 'guest-exec', { path: 'one' }, patience())).toEqual({ path: 'one' })
  expect(await askAgent(path, 'guest-exec', { path: 'two' })).toEqual({ path: 'two' })
})

test('a command that is told comes through behind them too', async () => {
  const { path, asked } = await fakeAgent(100)
  for (let index = 0; index < 3; index++) await askAndLeave(path)
  expect(await sendToAgent(path, 'guest-shutdown', { mode: 'powerdown' })).toBe(true)
  // The next one is asked behind it.
  await askAgent(path, 'guest-ping', {})
  expect(asked).toContain('guest-shutdown')
})

test('an agent that answers later than it is asked again gives what was asked for, and nothing else', async () => {
  const { path } = await fakeAgent(1_300)
  expect(await askAgent(path, 'guest-exec', { path: 'one' })).toEqual({ path: 'one' })
})

test('what an agent forgot because it started anew it is asked once more', async () => {
  const { path } = await fakeAgent(0, 1)
  expect(await askAgent(path, 'guest-exec', { path: 'one' })).toEqual({ path: 'one' })
})

test('a guest that writes without end is given up, whether in one line or in many', async () => {
  for (const text of ['0'.repeat(1_024), `${'0'.repeat(1_023)}\n`]) {
    const path = join(folder, crypto.randomUUID())
    const part = Buffer.from(text.repeat(512))
    server = createServer((socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write(part));
      }
      socket.on('drain', write).on('error', () => undefined)
      write()
    })
    await new Promise<void>((settle) => server?.listen(path, settle))
    await expect(askAgent(path, 'guest-ping', {}, patience())).rejects.toMatchObject({
      code: 'agent_unavailable',
      message: expect.stringContaining('The guest agent writes more than 96 MiB.'),
    })
    expect(await sendToAgent(path, 'guest-shutdown', { mode: 'powerdown' })).toBe(false)
    server.close()
  }
}, 60_000)
