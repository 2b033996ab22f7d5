/** A fake registry that speaks the distribution protocol over HTTP, and does what a real one does not do at will. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const indexType = 'application/vnd.oci.image.index.v1+json'

/** Starts one on a free port of the loopback; images stand under the organization `tests`. */
export const fakeRegistry = () => {
  const blobs = new Map<string, Buffer>()
  const manifests = new Map<string, { bytes: Buffer; type: string }>()
  /** What of blobs was sent, by the path to send the rest to. */
  const sending = new Map<string, Buffer>()
  const state = {
    address: '',
    /** Bytes of a blob's answer after which it breaks off, where the answer is longer. */
    cutAfter: Number.POSITIVE_INFINITY,
    /** What it waits for in the middle of a blob, and before it takes one. */
    hold: undefined as Promise<void> | undefined,
    /** Bytes of a blob that it writes before it pauses for a millisecond. */
    piece: Number.POSITIVE_INFINITY,
    asksForToken: false,
    /** Blobs are at another address. */
    sendsElsewhere: false,
    /** Bytes of blobs that it has sent. */
    sent: 0,
    uploads: 0,
    /** Each range that was asked for. */
    ranges: [] as string[],
    scopes: [] as string[],
    /** What was sent with a token that was not for it. */
    leaked: [] as string[],
    put(bytes: Buffer, mediaType: string) {
      const digest = digestOf(bytes)
      blobs.set(digest, bytes)
      return { mediaType, digest, size: bytes.length }
    },
    replace: (digest: string, by: (bytes: Buffer) => Buffer) => void blobs.set(digest, by(blobs.get(digest) as Buffer)),
    publish(name: string, layers: readonly object[], configuration: object) {
      const config = state.put(Buffer.from(JSON.stringify(configuration)), 'application/vnd.trycua.lume.config.v1+json')
      const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config, layers }))
      for (const reference of ['latest', digestOf(bytes)])
        manifests.set(`tests/${name}/${reference}`, { bytes, type: manifestType })
      return { mediaType: manifestType, digest: digestOf(bytes), size: bytes.length }
    },
    /** Gives what is `latest` another tag. */
    alsoTag(name: string, tag: string) {
      const found = manifests.get(`tests/${name}/latest`)
      if (found !== undefined) manifests.set(`tests/${name}/${tag}`, found)
    },
    /** An index with an entry for the machine of most and one for another. */
    publishIndex(name: string, of: string) {
      const own = manifests.get(`tests/${of}/latest`)?.bytes as Buffer
      manifests.set(`tests/${name}/${digestOf(own)}`, { bytes: own, type: manifestType })
      const entry = (architecture: string, digest: string) => ({
        mediaType: manifestType,
        digest,
        size: own.length,
        platform: { os: 'linux', architecture },
      })
      const digest = digestOf(own)
      const [amd64, arm64] =
        process.arch === 'x64' ? [digest, `sha256:${'0'.repeat(64)}`] : [`sha256:${'0'.repeat(64)}`, digest]
      const bytes = Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: indexType,
          manifests: [entry('arm64', arm64), entry('amd64', amd64)],
        }),
      )
      manifests.set(`tests/${name}/latest`, { bytes, type: indexType })
    },
    /** Breaks every connection. */
    breakOff: () => server.closeAllConnections(),
    [Symbol.dispose]() {
      for (const each of [server, elsewhere]) {
        each.closeAllConnections()
        each.close()
      }
    },
  }

  const sendBlob = async (bytes: Buffer, { headers, method }: IncomingMessage, answer: ServerResponse) => {
    const { cutAfter, hold, piece } = state
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    if (headers.range !== undefined) state.ranges.push(headers.range)
    const rest = bytes.subarray(start)
    answer.writeHead(start > 0 ? 206 : 200, {
      'Content-Length': rest.length,
      ...(start > 0 && { 'Content-Range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    })
    if (method === 'HEAD') return answer.end()
    const part = rest.subarray(0, cutAfter)
    for (let at = 0; at < part.length && !answer.destroyed; at += piece) {
      const next = part.subarray(at, Math.min(at + piece, part.length))
      state.sent += next.length
      await new Promise((settle) => answer.write(next, settle))
      if (piece < part.length) await Bun.sleep(1)
    }
    await hold
    return part.length < rest.length ? answer.destroy() : answer.end()
  }

  const answerTo = async (request: IncomingMessage, answer: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const body = Buffer.concat(await Array.fromAsync(request))
    if (url.pathname === '/token') {
      state.scopes.push(url.searchParams.get('scope') ?? '')
      return answer.writeHead(200).end(JSON.stringify({ token: 'given' }))
    }
    if (state.asksForToken && request.headers.authorization !== 'Bearer given') {
      const challenge = `Bearer realm="http://${state.address}/token",service="tests"`
      return answer.writeHead(401, { 'WWW-Authenticate': challenge }).end()
    }
    const [, name = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/(.*)$/.exec(url.pathname) ?? []
    if (request.method === 'POST') {
      return answer.writeHead(202, { Location: `/v2/${name}/blobs/uploads/${crypto.randomUUID()}` }).end()
    }
    if (request.method === 'PUT' && kind === 'manifests') {
      for (const each of [reference, digestOf(body)])
        manifests.set(`${name}/${each}`, { bytes: body, type: manifestType })
      return answer.writeHead(201).end()
    }
    if (request.method === 'PATCH') {
      sending.set(url.pathname, body)
      return answer.writeHead(202, { Location: url.pathname }).end()
    }
    if (request.method === 'PUT') {
      state.uploads += 1
      await state.hold
      const digest = url.searchParams.get('digest') ?? ''
      const bytes = Buffer.concat([sending.get(url.pathname) ?? Buffer.alloc(0), body])
      sending.delete(url.pathname)
      if (digestOf(bytes) !== digest) return answer.writeHead(400).end('DIGEST_INVALID')
      blobs.set(digest, bytes)
      return answer.writeHead(201).end()
    }
    const found = kind === 'manifests' ? manifests.get(`${name}/${reference}`) : undefined
    if (found !== undefined) return answer.writeHead(200, { 'Content-Type': found.type }).end(found.bytes)
    const blob = kind === 'blobs' ? blobs.get(reference) : undefined
    if (blob === undefined) return answer.writeHead(404).end('{}')
    if (!state.sendsElsewhere) return sendBlob(blob, request, answer)
    const { port } = elsewhere.address() as AddressInfo
    return answer.writeHead(307, { Location: `http://127.0.0.1:${port}/${reference}` }).end()
  }

  const elsewhere = createServer((request, answer) => {
    if (request.headers.authorization !== undefined) state.leaked.push(request.headers.authorization)
    void sendBlob(blobs.get(request.url?.slice(1) ?? '') as Buffer, request, answer)
  }).listen(0, '127.0.0.1')
  const server = createServer((request, answer) => void answerTo(request, answer).catch(() => answer.destroy()))
  server.listen(0, '127.0.0.1')
  state.address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}

export type FakeRegistry = ReturnType<typeof fakeRegistry>

/** Puts a disk there in parts, packed as clients of this kind do; gives their layers. */
export const publishDisk = (
  registry: FakeRegistry,
  name: string,
  bytes: Buffer,
  pack: (part: Uint8Array) => Buffer = (part) => gzipSync(part),
  partBytes = 2 ** 20,
) => {
  const total = Math.ceil(bytes.length / partBytes)
  const layers = Array.from({ length: total }, (_, index) => {
    const part = bytes.subarray(index * partBytes, (index + 1) * partBytes)
    return {
      ...registry.put(pack(part), 'application/vnd.trycua.lume.disk.v1'),
      annotations: {
        'org.opencontainers.image.title': `disk.img.part.${index + 1}`,
        'org.trycua.lume.part.number': String(index + 1),
        'org.trycua.lume.part.total': String(total),
        'org.trycua.lume.part.offset': String(index * partBytes),
        'org.trycua.lume.content.uncompressed-size': String(part.length),
        'org.trycua.lume.content.uncompressed-digest': digestOf(part),
      },
    }
  })
  registry.publish(name, layers, { os: 'linux', cpuCount: 1, memorySize: 64 * 2 ** 20, diskSize: bytes.length })
  return layers
}
