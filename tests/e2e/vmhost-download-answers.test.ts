/** Answers that no server should give, each of which once made a disk of less than all, or of two contents. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { contentOf } from '../support/faulty-server.ts'
import { Scratch } from '../support/qemu.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { create, ended } from '../support/vms.ts'

const scratch = new Scratch()
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
})

const MiB = 2 ** 20
const [old, next] = [contentOf(1, MiB), contentOf(2, MiB)]
const half = MiB / 2

/** An answer: its first lines, its body, and whether it breaks off there. */
interface Answer {
  readonly head: readonly string[]
  readonly body?: Uint8Array
  readonly isCut?: boolean
}

const whole = (content: Uint8Array, ...more: string[]): Answer => ({
  head: ['200 OK', `Content-Length: ${content.length}`, ...more],
  body: content,
})

const chunk = (content: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from('\r\n')])

/** The first half of the old content, by a server that does not say how long all of it is. */
const begun: Answer = {
  head: ['200 OK', 'Transfer-Encoding: chunked', 'ETag: "one"'],
  body: chunk(old.subarray(0, half)),
  isCut: true,
}

/** Serves these answers, one after another, the last again and again; has VMs made of them, and gives the last of those. */
const fetched = async (answers: readonly Answer[], vms = 1) => {
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      const { head, body = Buffer.alloc(0), isCut = false } = answers[Math.min(count++, answers.length - 1)] as Answer
      const lines = [`HTTP/1.1 ${head[0]}`, 'Connection: close', ...head.slice(1), '', '']
      socket.write(lines.join('\r\n'))
      if (isCut) socket.write(body, () => socket.end())
      else socket.end(body)
    })
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/disk.raw`
  const make = async () => {
    const name = `answer-${crypto.randomUUID().slice(0, 8)}`
    const { operationId } = await create(host, name, { image: url, diskSize: '16MB' })
    return { ...(await ended(host, String(operationId))), vm: name }
  }
  for (let others = 1; others < vms; others += 1) await make()
  const { vm, state, cause } = await make()
  for (const socket of sockets) socket.destroy()
  server.close()
  const disk = join(host.home, 'data/vms', vm, 'disk.qcow2')
  return { state, cause, count, disk }
}

const shows = (disk: string, content: Uint8Array): boolean => {
  const path = scratch.at('wanted.raw')
  writeFileSync(path, content)
  return Bun.spawnSync(['qemu-img', 'compare', path, disk]).exitCode === 0
}

test.each([
  [
    'a rest that ends before the content does',
    {
      head: [
        ...['206 Partial Content', `Content-Range: bytes ${half}-${half + 511}/${MiB}`],
        ...['Content-Length: 512', 'ETag: "one"'],
      ],
      body: old.subarray(half, half + 512),
    },
  ],
  [
    'a rest of nobody knows how many bytes',
    {
      head: [
        ...['206 Partial Content', `Content-Range: bytes ${half}-${half + 511}/*`],
        ...['Content-Length: 512', 'ETag: "one"'],
      ],
      body: old.subarray(half, half + 512),
    },
  ],
  [
    'a rest that ends with its connection',
    {
      head: ['206 Partial Content', `Content-Range: bytes ${half}-${MiB - 1}/${MiB}`, 'ETag: "one"'],
      body: old.subarray(half, half + 512),
      isCut: true,
    },
  ],
  [
    'a rest that says nothing of what it is of',
    {
      head: [...['206 Partial Content', `Content-Range: bytes ${half}-${MiB - 1}/${MiB}`], `Content-Length: ${half}`],
      body: next.subarray(half),
    },
  ],
  ['"not modified" to one who asked for the rest', { head: ['304 Not Modified', 'ETag: "one"'] }],
] as const satisfies readonly (readonly [string, Answer])[])('%s is not taken for all of it', async (_, answer) => {
  const { state, cause, disk } = await fetched([begun, answer, whole(next)])
  expect([state, cause]).toEqual(['done', null])
  expect(shows(disk, next)).toBe(true)
})

test('"not modified" to one who asked for no such thing is not taken for an answer', async () => {
  const { state, cause, disk } = await fetched([whole(old), { head: ['304 Not Modified'] }, whole(next)], 2)
  expect([state, cause]).toEqual(['done', null])
  expect(shows(disk, next)).toBe(true)
})

test('an answer that does not say where it ends is refused, because it may have been cut', async () => {
  const { state, cause, count } = await fetched([{ head: ['200 OK'], body: old.subarray(0, half) }])
  expect([state, cause?.code, count]).toEqual(['failed', 'download_failed', 1])
  expect(cause?.message).toContain('does not say how long it is')
})
