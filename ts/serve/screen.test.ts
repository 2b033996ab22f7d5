import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join as pathOf } from 'node:path'
import { screens } from '@backlot/contract/limits'
import { type ScreenAddress, screenHandler } from './screen.ts'
import { type SocketHandler, socketHandlers } from './sockets/web-sockets.ts'

const open: { stop(): unknown }[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each.stop()
})

/** A screen's far side, and a WebSocket of a browser that leads to it. */
const join = async (serve: (socket: Socket) => void): Promise<WebSocket> => {
  const far = await new Promise<Server>((settle) => {
    const server = createServer(serve).listen(0, '127.0.0.1', () => settle(server))
  })
  open.push({ stop: () => far.close() })
  const { port } = far.address() as { port: number }
  return browser({ hostname: '127.0.0.1', port })
}

const browser = (screen: ScreenAddress): WebSocket => {
  const near = Bun.serve<SocketHandler>({
    hostname: '127.0.0.1',
    port: 0,
    websocket: socketHandlers(screens.mostWaitingBytes),
    fetch(request, server) {
      server.upgrade(request, { data: screenHandler(screen) })
      return undefined
    },
  })
  open.push({ stop: () => near.stop(true) })
  const socket = new WebSocket(`ws://127.0.0.1:${near.port}/`)
  socket.binaryType = 'arraybuffer'
  return socket
}

const closed = (socket: WebSocket): Promise<CloseEvent> =>
  new Promise((settle) => {
    socket.onclose = settle
  })

/** The first `length` bytes that a WebSocket gives, as a digest. */
const digestOf = (socket: WebSocket, length: number): Promise<string> =>
  new Promise((settle) => {
    const hasher = new Bun.CryptoHasher('sha256')
    let got = 0
    socket.onmessage = ({ data }) => {
      got += data.byteLength
      hasher.update(data)
      if (got >= length) settle(`${got} ${hasher.digest('hex')}`)
    }
  })

const noise = (length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, Math.min(length, at + 65_536)))
  return bytes
}

const digest = (bytes: Uint8Array): string =>
  `${bytes.byteLength} ${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`

describe('a screen in a WebSocket', () => {
  test('gets every byte both ways, what the browser sent before it was joined too', async () => {
    const sent = noise(3 * 1024 * 1024)
    const socket = await join((far) => far.pipe(far))
    const back = digestOf(socket, sent.byteLength)
    await new Promise((settle) => {
      socket.onopen = settle
    })
    for (let at = 0; at < sent.byteLength; at += 100_000) socket.send(sent.subarray(at, at + 100_000))
    expect(await back).toBe(digest(sent))
  })

  test('is reached on a Unix socket too', async () => {
    const folder = mkdtempSync(pathOf(tmpdir(), 'backlot-screen-'))
    open.push({ stop: () => rmSync(folder, { recursive: true }) })
    const unix = pathOf(folder, 'vnc')
    const far = await new Promise<Server>((settle) => {
      const server = createServer((socket) => socket.pipe(socket)).listen(unix, () => settle(server))
    })
    open.push({ stop: () => far.close() })
    const socket = browser({ unix })
    const back = digestOf(socket, 12)
    socket.onopen = () => socket.send(Buffer.from('RFB 003.008\n'))
    expect(await back).toBe(digest(Buffer.from('RFB 003.008\n')))
    expect(await closed(browser({ unix: pathOf(folder, 'none') }))).toMatchObject({ code: 1011 })
  })

  test('sends a flood whole', async () => {
    const flood = noise(48 * 1024 * 1024)
    const socket = await join((far) => far.write(flood))
    expect(await digestOf(socket, flood.byteLength)).toBe(digest(flood))
  })

  test('ends when the screen ends, and lets go of it when the browser leaves', async () => {
    const gone = await join((far) => far.destroy())
    expect((await closed(gone)).wasClean).toBe(true)
    const left = Promise.withResolvers<void>()
    const socket = await join((far) => {
      far.on('close', left.resolve)
      far.resume()
      far.write('hello')
    })
    await new Promise((settle) => {
      socket.onmessage = settle
    })
    socket.close()
    await left.promise
  })

  test('says so where the screen cannot be reached or takes no more', async () => {
    expect(await closed(browser({ hostname: '127.0.0.1', port: 1 }))).toMatchObject({
      code: 1011,
      reason: 'the screen cannot be reached',
    })
    const deaf = await join((far) => far.pause())
    deaf.onopen = () => {
      // More than the socket's own buffers hold beside what may wait.
      for (let count = 0; count < 64; count++) deaf.send(new Uint8Array(screens.mostWaitingBytes / 4))
    }
    expect(await closed(deaf)).toMatchObject({ code: 1011, reason: 'the screen takes no more input' })
  })
})
