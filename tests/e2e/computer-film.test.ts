import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { filmLimits } from '@backlot/contract/computer/limits'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Browser, openBrowser } from '../support/browser.ts'
import { type Fields, startComputer, type TestComputer } from '../support/computer.ts'
import { probed } from '../support/filming.ts'
import { until } from '../support/until.ts'

/** A display that no VNC server shows. */
let display: Bun.Subprocess<'ignore', 'pipe', 'ignore'>
let environment: Record<string, string>
let computer: TestComputer

const startDisplay = async (): Promise<string> => {
  const options = ['-screen', '0', '1280x800x24', '-nolisten', 'tcp', '-noreset']
  display = Bun.spawn(['Xvfb', '-displayfd', '1', ...options], { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  const { value } = await display.stdout.getReader().read()
  return `:${new TextDecoder().decode(value).trim()}`
}

beforeAll(async () => {
  environment = { DISPLAY: await startDisplay() }
  computer = await startComputer(['--port', '0'], environment)
})

afterAll(async () => {
  await computer[Symbol.asyncDispose]()
  display.kill()
  await display.exited
})

const post = async (body: Fields, on = computer) =>
  fetch(`${on.url}/film`, { method: 'POST', body: JSON.stringify(body) })
const startFilm = async (body: Fields = {}, on = computer) => {
  const answer = await post(body, on)
  const record = (await answer.json()) as Fields
  expect({ status: answer.status, record }).toMatchObject({ status: 200 })
  return record as Fields & { id: string }
}
const remove = async (id: string, query = '', on = computer) =>
  fetch(`${on.url}/film/${id}${query}`, { method: 'DELETE' })
const listed = async (on = computer) =>
  ((await (await fetch(`${on.url}/film`)).json()) as { films: (Fields & { id: string; bytes: number })[] }).films
const film = async (id: string, on = computer) => (await listed(on)).find((each) => each.id === id)
const grown = (id: string, bytes: number) =>
  until('the film to grow', async () => Number((await film(id))?.bytes) > bytes)

/** Has the screen change for as long as the test takes; what `lines` prints is hard to foresee or not. */
const moving = async (lines = 'while :; do seq -s " " $((RANDOM / 32)); sleep 0.05; done', size = '100x30') => {
  const pid = await computer.shell(`xterm -geometry ${size}+0+0 -e bash -c '${lines}' >/dev/null 2>&1 & echo $!`)
  return { [Symbol.asyncDispose]: async () => void (await computer.shell(`kill ${pid}`)) }
}

describe('films in files', () => {
  test('are fetched while they grow and when they have ended', async () => {
    await using _ = await moving()
    const { id } = await startFilm({ name: 'growing', fps: 20 })
    expect(id).toBe('growing')
    await grown(id, 60_000)
    const answer = await fetch(`${computer.url}/film/${id}`)
    const whileItGrew = await answer.bytes()
    expect(answer.headers.get('film-running')).toBe('true')
    expect(answer.headers.get('content-type')).toBe('video/mp4')
    expect(whileItGrew.byteLength).toBe(Number(answer.headers.get('content-length')))
    const first = join(computer.home, 'first.mp4')
    await writeFile(first, whileItGrew)
    const before = await probed(first)
    expect(before).toMatchObject({ codec_name: 'h264', r_frame_rate: '20/1' })
    expect(before.frames).toBeGreaterThan(0)

    // What came afterwards, appended to it, is the film of a later moment.
    await grown(id, whileItGrew.byteLength)
    const tag = answer.headers.get('etag') ?? ''
    const range = { Range: `bytes=${whileItGrew.byteLength}-`, 'If-Range': tag }
    const more = await fetch(`${computer.url}/film/${id}`, { headers: range })
    expect(more.status).toBe(206)
    expect(more.headers.get('content-range')).toMatch(new RegExp(`^bytes ${whileItGrew.byteLength}-\\d+/\\*$`))
    await writeFile(first, Buffer.concat([whileItGrew, await more.bytes()]))
    expect((await probed(first)).frames).toBeGreaterThan(before.frames)

    const stopped = (await (await remove(id)).json()) as Fields
    expect(stopped).toMatchObject({ id, running: false, film: { width: 1280, height: 800, fps: 20, error: null } })
    const whole = await fetch(`${computer.url}/film/${id}`)
    expect(whole.headers.get('film-running')).toBe('false')
    const second = join(computer.home, 'second.mp4')
    await writeFile(second, await whole.bytes())
    expect((await probed(second)).frames).toBe((stopped.film as { frames: number }).frames)
    // It is another file now, and a range of the one before is answered with all of it.
    expect((await fetch(`${computer.url}/film/${id}`, { headers: range })).status).toBe(200)
    const end = await fetch(`${computer.url}/film/${id}`, { headers: { Range: 'bytes=-10' } })
    expect([end.status, (await end.bytes()).byteLength]).toEqual([206, 10])
    const beyond = await fetch(`${computer.url}/film/${id}`, { headers: { Range: 'bytes=999999999-' } })
    expect(beyond.status).toBe(416)

    expect((await remove(id, '?remove=true')).status).toBe(200)
    expect(await film(id)).toBeUndefined()
  })

  test('have names of their own, and are so many at a time', async () => {
    const ids = await Promise.all([{ name: 'one' }, {}, {}, {}].map(async (body) => (await startFilm(body)).id))
    expect(new Set(ids).size).toBe(4)
    expect(await (await post({})).json()).toMatchObject({ code: 'too_many_films' })
    expect((await listed()).filter(({ running }) => running)).toHaveLength(4)
    await remove(ids[1] as string, '?remove=true')
    const again = await post({ name: 'one' })
    expect([again.status, await again.json()]).toMatchObject([409, { code: 'film_in_use' }])
    expect(await film('one')).toMatchObject({ running: true })
    for (const name of ['../one', '', 'a/b', '.hidden', 'x'.repeat(65)]) {
      expect(await (await post({ name })).json()).toMatchObject({ code: 'invalid_body' })
    }
    for (const fps of [0, 61, 1.5]) expect(await (await post({ fps })).json()).toMatchObject({ code: 'invalid_body' })
    for (const id of ['none', '..%2Fone', encodeURIComponent('../../etc/passwd')]) {
      const answer = await fetch(`${computer.url}/film/${id}`)
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'film_not_found' }])
      expect((await remove(id, '?remove=true')).status).toBe(404)
    }
    for (const { id } of await listed()) await remove(id, '?remove=true')
    expect(await listed()).toEqual([])
    expect(await readdir(join(dirname(computer.home), 'state/films'))).toEqual([])
  })

  test('end with their server; one that is killed leaves films that play and are listed', async () => {
    const home = join(computer.home, 'others')
    const others = { ...environment, BACKLOT_HOME: home }
    await using _ = await moving()
    const file = join(home, 'state/films/kept.mp4')
    {
      await using ending = await startComputer(['--port', '0'], others)
      await startFilm({ name: 'kept' }, ending)
      await startFilm({ name: 'killed' }, ending)
      await remove('killed', '?remove=true', ending)
      await until('some of the film', async () => Number((await film('kept', ending))?.bytes) > 60_000)
      expect(await ending.end()).toBe(0)
    }
    const { frames, seconds } = await probed(file)
    expect(seconds).toBeCloseTo(frames / 30, 1)
    await using killed = await startComputer(['--port', '0'], others)
    expect(await film('kept', killed)).toMatchObject({ running: false })
    await startFilm({ name: 'killed' }, killed)
    await until('some of the film', async () => Number((await film('killed', killed))?.bytes) > 60_000)
    // Another server tells of it, and leaves it alone.
    await using next = await startComputer(['--port', '0'], others)
    expect(await film('killed', next)).toMatchObject({ running: true })
    expect(await (await remove('killed', '?remove=true', next)).json()).toMatchObject({ code: 'film_in_use' })
    process.kill(killed.pid, 'SIGKILL')
    await until('the film to be over', async () => (await film('killed', next))?.running === false)
    const left = join(computer.home, 'left.mp4')
    await writeFile(left, await (await fetch(`${next.url}/film/killed`)).bytes())
    expect((await probed(left)).frames).toBeGreaterThan(0)
  })
})

interface Sample {
  readonly sequence: number
  readonly isSync: boolean
  readonly bytes: Uint8Array
}

/** Boxes of an MP4 by their kinds, one level deep. */
const boxesIn = (bytes: Uint8Array): Map<string, Uint8Array> => {
  const found = new Map<string, Uint8Array>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    const size = view.getUint32(at)
    found.set(new TextDecoder().decode(bytes.subarray(at + 4, at + 8)), bytes.subarray(at + 8, at + size))
    at += size
  }
  return found
}

const sampleOf = (fragment: Uint8Array): Sample => {
  const moof = boxesIn(boxesIn(fragment).get('moof') as Uint8Array)
  const sequence = Buffer.from(moof.get('mfhd') as Uint8Array).readUInt32BE(4)
  const run = Buffer.from(boxesIn(moof.get('traf') as Uint8Array).get('trun') as Uint8Array)
  return { sequence, isSync: run.readUInt32BE(12) === 0x0200_0000, bytes: fragment }
}

/** One who looks on at the film, and all that was sent. */
class Onlooker {
  readonly texts: Fields[] = []
  readonly headers: Uint8Array[] = []
  readonly samples: Sample[] = []
  readonly socket: WebSocket

  constructor(url: string) {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/view/film`)
    this.socket.binaryType = 'arraybuffer'
    this.socket.onmessage = ({ data }) => this.take(data)
  }

  take(data: string | ArrayBuffer): void {
    if (typeof data === 'string') this.texts.push(JSON.parse(data) as Fields)
    else if (this.headers.length < this.texts.length) this.headers.push(new Uint8Array(data))
    else this.samples.push(sampleOf(new Uint8Array(data)))
  }

  has(count: number): Promise<unknown> {
    return until(`${count} pictures`, () => this.samples.length >= count)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close()
    await until('the socket to close', () => this.socket.readyState === WebSocket.CLOSED)
  }
}

/** How many pictures ffprobe decodes of a beginning and samples. */
const decoded = async (header: Uint8Array | undefined, samples: readonly Sample[]): Promise<number> => {
  const path = join(computer.home, 'seen.mp4')
  await writeFile(path, Buffer.concat([header ?? new Uint8Array(), ...samples.map(({ bytes }) => bytes)]))
  return (await probed(path)).frames
}

/** How many sockets the server has open. */
const sockets = async (): Promise<number> => {
  const links = await Array.fromAsync(
    new Bun.Glob('*').scan({ cwd: `/proc/${computer.pid}/fd`, onlyFiles: false, dot: true }),
    (name) => Bun.spawnSync(['readlink', `/proc/${computer.pid}/fd/${name}`]).stdout.toString(),
  )
  return links.filter((link) => link.startsWith('socket:')).length
}

describe('the live film', () => {
  test('shows all viewers the pictures of one encoder, which works only while somebody looks on', async () => {
    await using _ = await moving()
    expect((await fetch(`${computer.url}/view/film`)).status).toBe(426)
    const idle = await sockets()
    {
      await using one = new Onlooker(computer.url)
      await one.has(30)
      await using other = new Onlooker(computer.url)
      await other.has(30)
      const [first] = other.samples
      expect(other.texts).toMatchObject([{ type: 'start', width: 1280, height: 800 }])
      expect(other.texts[0]?.mime).toMatch(/^video\/mp4; codecs="avc1\.42c0[0-9a-f]{2}"$/)
      expect(first?.isSync).toBe(true)
      const last = other.samples.at(-1)
      await until('the same picture', () => one.samples.some(({ sequence }) => sequence === last?.sequence))
      const from = one.samples.findIndex(({ sequence }) => sequence === first?.sequence)
      expect(from).toBeGreaterThan(0)
      const digest = (samples: readonly Sample[]) =>
        samples.slice(0, 30).map(({ bytes }) => Bun.hash(bytes).toString(16))
      expect(digest(other.samples)).toEqual(digest(one.samples.slice(from)))
      const seen = [...one.samples]
      expect(await decoded(one.headers[0], seen)).toBe(seen.length)
      const later = [...other.samples]
      expect(await decoded(other.headers[0], later)).toBe(later.length)
    }
    await until('the encoder to let go of the display', async () => (await sockets()) <= idle)
  })

  test('gives pictures alone to who wants no MP4, and none that only fills', async () => {
    await using _ = await moving('while :; do printf "some words "; sleep 0.2; done')
    await using whole = new Onlooker(computer.url)
    await whole.has(4)
    const begun = whole.samples.length
    const header = { bytes: new Uint8Array() }
    const pictures: Uint8Array[] = []
    const socket = new WebSocket(`${computer.url.replace(/^http/, 'ws')}/view/film?pictures`)
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') return
      if (header.bytes.length === 0) header.bytes = new Uint8Array(data)
      else pictures.push(new Uint8Array(data))
    }
    await until('pictures', () => pictures.length > 12)
    socket.close()
    const end = (bytes: Uint8Array, length: number) => Bun.hash(bytes.subarray(bytes.length - length))
    // Each is what a fragment of the others holds, and all of them together decode.
    const found = pictures.map((picture) =>
      whole.samples.findIndex(
        ({ bytes }, at) => at >= begun && end(bytes, picture.length - 1) === end(picture, picture.length - 1),
      ),
    )
    expect(found.every((at, place) => at > (found[place - 1] ?? -1))).toBe(true)
    expect(whole.samples.length - begun).toBeGreaterThan(pictures.length + 4)
    expect(pictures.map(([kind]) => kind)).toEqual(found.map((at) => Number(whole.samples[at]?.isSync)))
    expect(header.bytes).toEqual(new Uint8Array(whole.headers[0] ?? []))
    const samples = found.map((at) => whole.samples[at] as Sample)
    expect(await decoded(header.bytes, samples)).toBe(samples.length)
  })

  test('leaves out of what follows who does not read, and nobody waits', async () => {
    await using other = new Onlooker(computer.url)
    await using pages = await turnedPages(other)
    const slow = await rawViewer(computer.url)
    await until('the first bytes', () => slow.bytesRead > 0)
    slow.pause()
    const begun = other.samples.length
    const read = slow.bytesRead
    const size = () => other.samples.slice(begun).reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    // What neither the reader nor the kernel has is with the server, which keeps so much for a viewer.
    const waiting = async () => size() - (slow.bytesRead - read) - (await inKernel(slow))
    await until('more than can wait', async () => {
      await pages.turn()
      return (await waiting()) > filmLimits.mostWaitingBytes
    })
    const behind = other.samples.length
    await until('pictures that are left out', async () => {
      await pages.turn()
      return other.samples.length > behind + 3
    })
    const numbers = other.samples.map(({ sequence }) => sequence)
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at))
    const seen = new Onlooker(computer.url)
    seen.socket.close()
    const frames = new Frames((data) => seen.take(data))
    slow.on('data', (bytes) => frames.take(Buffer.from(bytes)))
    for (const bytes of slow.early) frames.take(bytes)
    slow.resume()
    const gap = await until('a picture after a gap', () => {
      const at = seen.samples.findIndex(
        ({ sequence }, at) => sequence - (seen.samples[at - 1]?.sequence ?? sequence) > 1,
      )
      return at > 0 && at
    })
    expect(seen.samples[gap]?.isSync).toBe(true)
    expect(await decoded(seen.headers[0], seen.samples.slice(gap))).toBeGreaterThan(0)
    slow.destroy()
  })
})

/** A screen full of text that is hard to foresee; it is another one each time that the film shows all of it fine. */
const turnedPages = async (viewer: Onlooker) => {
  const path = join(computer.home, 'pages')
  await computer.shell(`mkfifo ${path}`)
  const page = 'clear; base64 -w 200 /dev/urandom | head -c 11600'
  const terminal = await moving(`while read -r; do ${page}; done 0<>${path}`, '200x60')
  let shown = 0
  const turn = async () => {
    // What changes at once is shown coarsely, in fewer bytes.
    if (shown > 0 && !viewer.samples.slice(shown).some(({ bytes }) => bytes.byteLength > 50_000)) return
    shown = viewer.samples.length
    await writeFile(path, '\n')
  }
  await viewer.has(1)
  await turn()
  return { turn, [Symbol.asyncDispose]: terminal[Symbol.asyncDispose] }
}

/** Bytes of a connection that have been sent and not read yet. */
const inKernel = async ({ localPort, remotePort }: Socket): Promise<number> => {
  const ends = [localPort, remotePort].map((port) => Number(port).toString(16).toUpperCase().padStart(4, '0'))
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/))
  const ports = ([, local, remote]: string[]) => [local, remote].map((end) => end?.split(':')[1])
  const ours = rows.filter((row) => ends.every((end) => ports(row).includes(end)))
  const queues = ours.flatMap((row) => (row[4] ?? '').split(':'))
  return queues.reduce((sum, bytes) => sum + Number.parseInt(bytes, 16), 0)
}

/** A WebSocket whose bytes are read only when that is wanted. */
const rawViewer = (url: string): Promise<Socket & { early: Uint8Array[] }> =>
  new Promise((settle, fail) => {
    const { hostname, port, host } = new URL(url)
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        [
          'GET /view/film HTTP/1.1',
          `Host: ${host}`,
          'Upgrade: websocket',
          'Connection: Upgrade',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          '\r\n',
        ].join('\r\n'),
      ),
    )
    socket.on('error', fail)
    let answer = Buffer.alloc(0)
    const read = (bytes: Buffer) => {
      answer = Buffer.concat([answer, bytes])
      const end = answer.indexOf('\r\n\r\n')
      if (end === -1) return
      socket.off('data', read)
      settle(Object.assign(socket, { early: [answer.subarray(end + 4)] }))
    }
    socket.on('data', read)
  })

/** Messages of a WebSocket (RFC 6455, 5.2), as a server sends them: whole and without masks. */
class Frames {
  #held = Buffer.alloc(0)

  constructor(private readonly give: (data: string | ArrayBuffer) => void) {}

  take(bytes: Uint8Array): void {
    this.#held = Buffer.concat([this.#held, bytes])
    for (;;) {
      if (this.#held.length < 10) return
      const short = (this.#held[1] ?? 0) & 0x7f
      const [head, length] =
        short < 126 ? [2, short] : short === 126 ? [4, this.#held.readUInt16BE(2)] : [10, this.#held.readUInt32BE(6)]
      if (this.#held.length < head + length) return
      const content = this.#held.subarray(head, head + length)
      const kind = (this.#held[0] ?? 0) & 0xf
      if (kind === 1) this.give(content.toString())
      else if (kind === 2) this.give(new Uint8Array(content).buffer)
      this.#held = this.#held.subarray(head + length)
    }
  }
}

/** A point of the window that comes. */
const placeIn = async (call: (name: string) => Promise<Fields>): Promise<Fields> => {
  const { pid, window_id } = await until('the window', async () => {
    const { windows } = (await call('list_windows')) as { windows: Fields[] }
    return windows[0]
  })
  return { pid, window_id, x: 5, y: 5 }
}

test('the folder of a recording of an MCP session is fetched as one archive, also while it is recorded', async () => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${computer.url}/mcp`)))
  const call = async (name: string, args: Fields = {}) => {
    const answer = await client.callTool({ name, arguments: args })
    expect(answer.isError, JSON.stringify(answer.content)).not.toBe(true)
    return answer.structuredContent as Fields
  }
  await using _ = await moving('while :; do base64 -w 200 /dev/urandom | head -c 11600; sleep 0.05; done', '200x60')
  const folder = join(computer.home, 'recorded')
  await call('start_recording', { output_dir: folder, record_video: true })
  await call('click', await placeIn(call))
  const size = async () => Number(await computer.shell(`stat -c %s ${folder}/*.mp4`))
  const grown = async (bytes: number) => until('the film to grow', async () => (await size()) > bytes)
  // More than the connection holds: the rest of it is packed when it is wanted.
  await grown(6_000_000)
  const fetched = async (name: string, meanwhile: () => Promise<unknown>) => {
    const url = `${computer.url}/files/tar?path=${encodeURIComponent(folder)}`
    // curl reads no more than its pipe takes, so that a few megabytes fill the way to it.
    const unpacking = computer.shell(
      `mkdir ${name} && mkfifo ${name}.go && curl -sf '${url}' | { head -c 512 >${name}.begun; cat ${name}.go; cat ${name}.begun - | tar -C ${name} -xf -; } && sync`,
    )
    await until('the archive to begin', () => Bun.file(join(computer.home, `${name}.begun`)).size === 512)
    await meanwhile()
    await writeFile(join(computer.home, `${name}.go`), '')
    await unpacking
    const files = (await computer.shell(`cd ${name} && find . -type f | sort`)).trim().split('\n')
    const mp4 = files.find((file) => file.endsWith('.mp4')) ?? ''
    return { files, ...(await probed(join(computer.home, name, mp4))) }
  }
  const before = await size()
  expect((await fetched('running', () => grown(before))).frames).toBeGreaterThan(0)
  expect((await call('get_recording_state')).output_dir).toBe(folder)
  await call('stop_recording')
  const { files, frames } = await fetched('ended', async () => undefined)
  expect(frames).toBeGreaterThan(0)
  expect(files).toContain('./turn-00001/action.json')
  await client.close()
})

describe('the page', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await openBrowser(['--window-size=1400,950', '--autoplay-policy=no-user-gesture-required'])
  })

  afterAll(() => browser[Symbol.asyncDispose]())

  const words = `document.querySelector('[role=status]')?.textContent`
  /** The picture that is shown, as a number that differs where it does. */
  const pixels = `(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 100 })
    canvas.getContext('2d').drawImage(document.querySelector('.screen > *'), 0, 0, 160, 100)
    const { data } = canvas.getContext('2d').getImageData(0, 0, 160, 100)
    return data.reduce((sum, value, at) => (sum * 31 + value + at) % 4294967291, 7)
  })()`

  /** The browser's decoder, which it lends to pages of this machine; and its player, for all others. */
  const ways = [
    {
      way: 'decoder',
      before: '',
      isThere: `document.querySelector('canvas.film')?.width === 1280`,
    },
    {
      way: 'player',
      before: 'delete window.VideoDecoder',
      isThere: `document.querySelector('video')?.videoWidth === 1280`,
    },
  ]

  test.each(ways)('shows the film where there is no VNC screen, and each change of it: $way', async (given) => {
    expect(await (await fetch(`${computer.url}/status`)).json()).toMatchObject({
      features: expect.arrayContaining(['film']),
    })
    // It comes to a film that others look at, of a screen that stands still.
    await using other = new Onlooker(computer.url)
    await other.has(4)
    await browser.send('Page.addScriptToEvaluateOnNewDocument', { source: given.before })
    await browser.goTo(`${computer.url}/view`)
    await browser.until(given.isThere)
    await browser.until(`${words}?.includes('film')`)
    expect(await browser.evaluate(`document.querySelector('.take')`)).toBeNull()
    {
      const shown = await browser.evaluate<number>(pixels)
      await using _ = await moving()
      await browser.until(`${pixels} !== ${shown}`)
      const moved = await browser.evaluate<number>(pixels)
      await browser.until(`${pixels} !== ${moved}`)
    }
    // One change of a screen that stands still is shown too.
    await browser.until(`(() => {
      const before = window.last
      window.last = ${pixels}
      window.calm = before === window.last ? (window.calm ?? 0) + 1 : 0
      return window.calm > 20
    })()`)
    const still = await browser.evaluate<number>(pixels)
    const pid = await computer.shell('xterm -bg red -geometry 80x24+200+200 >/dev/null 2>&1 & echo $!')
    await browser.until(`${pixels} !== ${still}`)
    const red = `(() => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 1280, height: 800 })
      canvas.getContext('2d').drawImage(document.querySelector('.screen > *'), 0, 0)
      const [r, g, b] = canvas.getContext('2d').getImageData(500, 400, 1, 1).data
      return r > 200 && g < 60 && b < 60
    })()`
    await browser.until(red)
    await computer.shell(`kill ${pid}`)
    await browser.until(`!${red}`)
    expect(browser.faults).toEqual([])
  })
})
