/** What the server itself costs: its start, its memory, and long files through it. */
import { join } from 'node:path'
import { exactly, milliseconds, type Row, sideBySide } from '../driver/measure.ts'
import { Service } from '../vmhost/server-process.ts'
import type { ComputerSetup } from './setup.ts'

const part = new Uint8Array(1 << 20).fill(7)

/** Bytes that travel, 1 GiB or with `--quick` 64 MiB. */
const parts = process.argv.includes('--quick') ? 64 : 1_024

/** A body that is made as it is read. */
const body = () => {
  let left = parts
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(part)
      else controller.close()
    },
  })
}

const drain = async (response: Response): Promise<void> => {
  let length = 0
  for await (const piece of response.body ?? []) length += piece.byteLength
  if (length !== parts * part.byteLength) throw new Error(`${length} bytes came, status ${response.status}`)
}

/** Long files in and out, beside a server that keeps and makes nothing. */
export const fileRows = async ({ ours, home }: ComputerSetup): Promise<Row[]> => {
  await using bare = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      if (request.method === 'GET') return new Response(body())
      for await (const _ of request.body ?? []);
      return new Response()
    },
  })
  const address = `${ours.url}/files?path=${join(home, 'long')}`
  const put = async (url: string | URL) => {
    const answer = await fetch(url, { method: 'PUT', body: body() })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  }
  const before = ours.memory
  let most = before.all
  const watch = setInterval(() => {
    most = Math.max(most, ours.memory.all)
  }, 50)
  const times = await sideBySide(2, {
    in: () => milliseconds(() => put(address)),
    bareIn: () => milliseconds(() => put(bare.url)),
    out: () => milliseconds(async () => drain(await fetch(address))),
    bareOut: () => milliseconds(async () => drain(await fetch(bare.url))),
  })
  clearInterval(watch)
  return [
    {
      what: `${parts} MiB in, onto the disk`,
      unit: 'ms',
      measured: times.in,
      floor: { name: 'through a socket to nowhere', spread: times.bareIn },
      aim: { of: 'ratio', atMost: 1 / 0.7 },
    },
    {
      what: `${parts} MiB out`,
      unit: 'ms',
      measured: times.out,
      floor: { name: 'through a socket from nowhere', spread: times.bareOut },
      aim: { of: 'ratio', atMost: 1 / 0.7 },
    },
    {
      what: 'the most memory meanwhile',
      unit: 'MB',
      measured: exactly(most),
      floor: { name: 'before', spread: exactly(before.all) },
    },
  ]
}

/** The start and the memory, beside an empty server. */
export const costRows = async (setup: ComputerSetup): Promise<Row[]> => {
  const { ourCommand, emptyCommand, home } = setup
  const first = (command: readonly [string, ...string[]], path: string) => {
    let service: Service | undefined
    return milliseconds(async () => {
      service = await Service.start(command, home)
      await service.ask(path)
    }).finally(() => service?.[Symbol.asyncDispose]())
  }
  const started = await sideBySide(10, {
    ours: () => first(ourCommand, '/status'),
    empty: () => first(emptyCommand, '/'),
  })
  await using ours = await Service.start(ourCommand, home)
  await using empty = await Service.start(emptyCommand, home)
  for (let count = 0; count < 200; count++) {
    await ours.ask('/cmd', { command: 'get_screen_size' })
    await empty.ask('/')
  }
  return [
    {
      what: 'start to the first /status',
      unit: 'ms',
      measured: started.ours,
      floor: { name: 'empty Elysia server', spread: started.empty },
      aim: { of: 'median', atMost: 200 },
    },
    {
      what: 'memory after 200 commands',
      unit: 'MB',
      measured: exactly(ours.memory.all),
      floor: { name: 'empty Elysia server', spread: exactly(empty.memory.all) },
      aim: { of: 'difference', atMost: 30 },
    },
    {
      what: 'what of it is no page of a file',
      unit: 'MB',
      measured: exactly(ours.memory.own),
      floor: { name: 'empty Elysia server', spread: exactly(empty.memory.own) },
    },
  ]
}
