/** The routes of a device that stream: `/files`, `/files/tar`, `/files/watch` and `/tunnel`. */
import { posix } from 'node:path'
import { TunnelEnd } from '@backlot/contract/computer/tunnel'
import { Failure } from '@backlot/contract/failure'
import type { BoundServer, SocketHandler } from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import { modeIn } from '../../files/mode.ts'
import type { Replaceable } from '../../replaceable.ts'
import type { Connection } from './adb/connection.ts'
import { quoted } from './adb/quote.ts'
import { nextPacket, packet, sendPacket } from './adb/shell-packets.ts'
import { isFolder, isPlain } from './adb/sync.ts'
import type { AndroidDevice } from './device.ts'
import { putFile, runOnPath, statOf } from './files/commands.ts'
import { watchDevicePath } from './files/watch.ts'
import { resolveDevicePath } from './paths.ts'

/** Adds the routes; each waits for the device. */
export const deviceRoutes =
  (current: Replaceable<AndroidDevice>) =>
  (app: AnyElysia, server: BoundServer): AnyElysia => {
    const onDevice =
      (answer: (device: AndroidDevice, request: Request) => unknown) =>
      async ({ request }: { readonly request?: Request }) =>
        answer(await current.get(), request as Request)
    return app
      .get('/files', onDevice(readFile))
      .put('/files', onDevice(writeFile))
      .post('/files', onDevice(writeFile))
      .get('/files/tar', onDevice(packFolder))
      .put('/files/tar', onDevice(unpackFolder))
      .post('/files/tar', onDevice(unpackFolder))
      .get(
        '/files/watch',
        onDevice((device, request) => watchDevicePath(device, pathIn(queryOf(request)), request)),
      )
      .get(
        '/tunnel',
        onDevice((device, request) => {
          if (server.join(request, deviceTunnel(device, serviceIn(queryOf(request))))) return new Response()
          throw new Failure('not_a_socket', 'A tunnel is given to a WebSocket here; connect with one.')
        }),
      )
  }

const queryOf = (request: Request): URLSearchParams => new URL(request.url).searchParams

const readFile = async (device: AndroidDevice, request: Request): Promise<Response> => {
  const path = pathIn(queryOf(request))
  if (!isPlain(await statOf(device, path, true))) {
    throw new Failure('invalid_argument', `"${path}" is no file; GET /files/tar packs a folder.`, { path })
  }
  return streamed(device.files.read(path), 'application/octet-stream')
}

const writeFile = async (device: AndroidDevice, request: Request) => {
  const query = queryOf(request)
  const path = pathIn(query)
  const mode = modeIn(query.get('mode'))
  if (query.get('parents') === 'true') await runOnPath(device, path, `mkdir -p ${quoted(posix.dirname(path))}`)
  const append = query.get('append') === 'true'
  return { path, size: await putFile(device, path, request.body ?? [], { append, mode }) }
}

const packFolder = async (device: AndroidDevice, request: Request): Promise<Response> => {
  const path = pathIn(queryOf(request))
  if (!isFolder(await statOf(device, path, true))) {
    throw new Failure('invalid_argument', `"${path}" is no folder; GET /files gives a file.`, { path })
  }
  return streamed(packed(device, path), 'application/x-tar')
}

const unpackFolder = async (device: AndroidDevice, request: Request) => {
  const path = pathIn(queryOf(request))
  await runOnPath(device, path, `mkdir -p ${quoted(path)}`)
  await unpackInto(device, path, request)
  return { path }
}

/** The pieces as they are asked for; who gives up ends what brings them. */
const streamed = (pieces: AsyncGenerator<Buffer, void, void>, type: string): Response => {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => pieces.return().then(() => undefined),
  })
  return new Response(body, { headers: { 'Content-Type': type } })
}

/** The archive of a folder, as the device's own tar packs it; it ends early where tar fails. */
async function* packed(device: AndroidDevice, path: string): AsyncGenerator<Buffer, void, void> {
  using connection = await device.adb.open(`shell,v2,raw:exec tar -C ${quoted(path)} -cf - .`)
  await sendPacket(connection, packet.closeStdin, new Uint8Array())
  for (;;) {
    const { id, bytes } = await nextPacket(connection)
    if (id === packet.stdout) yield bytes
    if (id !== packet.exit) continue
    if (bytes[0] === 0) return
    throw new Error(`tar ended with status ${bytes[0]}`)
  }
}

/** Unpacks the body of a request. Throws `invalid_body` with what tar says; what it unpacked before stays. */
const unpackInto = async (device: AndroidDevice, path: string, { body }: Request): Promise<void> => {
  using connection = await device.adb.open(`shell,v2,raw:exec tar -C ${quoted(path)} -xf -`)
  const said: Buffer[] = []
  const ended = (async () => {
    for (;;) {
      const { id, bytes } = await nextPacket(connection)
      if (id === packet.stderr) said.push(bytes)
      if (id === packet.exit) return bytes[0] ?? 255
    }
  })()
  // Who waits for it is told below.
  ended.catch(() => undefined)
  for await (const piece of body ?? []) await sendPacket(connection, packet.stdin, piece)
  await sendPacket(connection, packet.closeStdin, new Uint8Array())
  if ((await ended) === 0) return
  const why = Buffer.concat(said).toString().trim().split('\n').slice(0, 3).join('; ')
  throw new Failure('invalid_body', `The archive was not unpacked into "${path}": ${why || 'it ended early'}.`, {
    path,
  })
}

const pathIn = (query: URLSearchParams): string => {
  const path = query.get('path') ?? ''
  if (path === '') throw new Failure('missing_argument', '"path" is missing in the query.', { argument: 'path' })
  return resolveDevicePath(path)
}

/** adb's name for what a tunnel leads to: a port of the device's loopback, or an abstract socket. Throws `invalid_argument`. */
const serviceIn = (query: URLSearchParams): string => {
  const socket = query.get('socket')
  if (socket !== null && /^[^\0]{1,107}$/.test(socket)) return `localabstract:${socket}`
  const text = query.get('port') ?? ''
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (socket === null && port >= 1 && port <= 65_535) return `tcp:${port}`
  const what =
    socket === null
      ? `"port" is "${text}"; it takes a number from 1 to 65535`
      : '"socket" is no name of an abstract socket'
  throw new Failure('invalid_argument', `${what}.`, { argument: socket === null ? 'port' : 'socket' })
}

/** Handles one tunnel: connects when the WebSocket opens, and says how that went. */
const deviceTunnel = (device: AndroidDevice, service: string): SocketHandler => {
  let connection: Connection | undefined
  let end: TunnelEnd | undefined
  let isClosed = false
  return {
    open(channel) {
      const connect = async () => {
        connection = await device.adb.open(service)
        if (isClosed) return connection[Symbol.dispose]()
        channel.send(JSON.stringify({ type: 'open' }))
        const socket = connection.release()
        end = new TunnelEnd(socket, {
          send: (message) => void channel.send(message),
          close: () => channel.close(1000, 'the connection has ended'),
        })
        socket.resume()
      }
      connect().catch((error: unknown) => {
        channel.send(JSON.stringify({ type: 'refused', why: Failure.from(error).message }))
        channel.close(1000, 'nothing listens')
      })
    },
    message(_, message) {
      end?.message(typeof message === 'string' ? message : new Uint8Array(message))
    },
    close() {
      isClosed = true
      end?.closed()
      connection?.[Symbol.dispose]()
    },
  }
}
