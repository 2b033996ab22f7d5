import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFile, chmod, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startComputer, type TestComputer } from '../support/computer.ts'
import { until } from '../support/until.ts'

let computer: TestComputer

beforeAll(async () => {
  computer = await startComputer(['--port', '0'])
})

afterAll(() => computer[Symbol.asyncDispose]())

const at = (path: string) => join(computer.home, path)
const files = (path: string, more = '') => `${computer.url}/files${more}?path=${encodeURIComponent(path)}`

describe('the commands', () => {
  test('write, read, list, measure and delete', async () => {
    await computer.ask('create_dir', { path: 'a/b' })
    await computer.ask('create_dir', { path: 'a/b' })
    await computer.ask('write_text', { path: '~/a/text', content: 'Grüße 世界 😀\n' })
    expect(await readFile(at('a/text'), 'utf8')).toBe('Grüße 世界 😀\n')
    await computer.ask('write_text', { path: 'a/text', content: 'more', append: true })
    expect(await computer.ask('read_text', { path: 'a/text' })).toMatchObject({ content: 'Grüße 世界 😀\nmore' })
    await computer.ask('write_bytes', { path: 'a/bytes', content_b64: Buffer.from([0, 255, 128]).toString('base64') })
    expect(await computer.ask('read_bytes', { path: 'a/bytes', offset: 1, length: 1 })).toMatchObject({
      content_b64: '/w==',
      content: '/w==',
    })
    expect(await computer.ask('get_file_size', { path: 'a/bytes' })).toMatchObject({ size: 3 })
    expect(await computer.ask('list_dir', { path: 'a' })).toMatchObject({
      files: ['b', 'bytes', 'text'],
      entries: [
        { name: 'b', is_dir: true },
        { name: 'bytes', is_dir: false, size: 3 },
        { name: 'text', is_dir: false },
      ],
    })
    const exists = async (command: string, path: string) => (await computer.ask(command, { path })).exists
    expect(await exists('file_exists', 'a/text')).toBe(true)
    expect(await exists('file_exists', 'a')).toBe(false)
    expect(await exists('directory_exists', 'a')).toBe(true)
    expect(await exists('directory_exists', 'a/text/b')).toBe(false)
    await computer.ask('delete_file', { path: 'a/text' })
    await computer.ask('delete_dir', { path: 'a' })
    expect(await readdir(computer.home)).not.toContain('a')
  })

  test('say what is wrong with a path', async () => {
    await writeFile(at('plain'), '')
    for (const [command, params, code] of [
      ['read_text', { path: 'absent' }, 'file_not_found'],
      ['read_text', { path: '.' }, 'invalid_argument'],
      ['write_text', { path: 'absent/file', content: '' }, 'file_not_found'],
      ['delete_file', { path: 'absent' }, 'file_not_found'],
      ['delete_dir', { path: 'plain' }, 'invalid_argument'],
      ['delete_dir', { path: '/' }, 'file_refused'],
      ['list_dir', { path: 'plain' }, 'file_not_found'],
      ['write_bytes', { path: 'x', content_b64: 'no base64!' }, 'invalid_argument'],
      ['read_text', { path: 'a\0b' }, 'invalid_argument'],
    ] as const) {
      expect([command, await computer.send(command, params)]).toMatchObject([command, { success: false, code }])
    }
  })

  test('replace a file whole, keep its rights, and follow a link to it', async () => {
    await writeFile(at('program'), 'old')
    await chmod(at('program'), 0o755)
    await symlink(at('program'), at('link'))
    await computer.ask('write_text', { path: 'link', content: 'new' })
    expect([await readFile(at('program'), 'utf8'), (await stat(at('program'))).mode & 0o777]).toEqual(['new', 0o755])
  })

  test('give no more of a file at once than an answer holds', async () => {
    await truncate(at('program'), 65 * 2 ** 20)
    expect(await computer.send('read_text', { path: 'program' })).toMatchObject({ code: 'file_too_large' })
    const { content_b64 } = await computer.ask('read_bytes', { path: 'program', offset: 64 * 2 ** 20 })
    expect(String(content_b64)).toHaveLength(Math.ceil(2 ** 20 / 3) * 4)
  })

  test('read files whose size is not told, and devices up to the length that is asked for', async () => {
    expect(String((await computer.ask('read_text', { path: '/proc/self/status' })).content)).toContain('Pid:')
    expect(await computer.ask('read_bytes', { path: '/dev/zero', length: 3 })).toMatchObject({ content_b64: 'AAAA' })
  })
})

describe('/files', () => {
  test('streams a long file both ways, and parts of it', async () => {
    const part = crypto.getRandomValues(new Uint8Array(65_536))
    const size = 64 * 2 ** 20
    const body = new Blob(Array.from({ length: size / part.byteLength }, () => part))
    const put = await fetch(files('long'), { method: 'PUT', body })
    expect([put.status, await put.json()]).toEqual([200, { path: at('long'), size }])
    const hash = (bytes: Bun.BlobOrStringOrBuffer) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
    const wanted = hash(await body.arrayBuffer())
    const got = await fetch(files('long'))
    expect(got.headers.get('content-length')).toBe(String(size))
    expect(hash(await got.arrayBuffer())).toBe(wanted)
    for (const [range, first, last] of [
      ['bytes=5-9', 5, 9],
      [`bytes=${size - 3}-`, size - 3, size - 1],
      ['bytes=-4', size - 4, size - 1],
    ] as const) {
      const answer = await fetch(files('long'), { headers: { Range: range } })
      expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `bytes ${first}-${last}/${size}`])
      expect(await answer.bytes()).toEqual(new Uint8Array(await body.slice(first, last + 1).arrayBuffer()))
    }
    const beyond = await fetch(files('long'), { headers: { Range: `bytes=${size}-` } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${size}`])
  })

  test('an upload that is cut off leaves what was there, and nothing else', async () => {
    await writeFile(at('kept'), 'before')
    const gone = new AbortController()
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new Uint8Array(100_000))
        sent += 1
        if (sent === 20) gone.abort()
      },
    })
    await fetch(files('kept'), { method: 'PUT', body, signal: gone.signal }).catch(() => undefined)
    await until('the upload to be over', async () =>
      (await readdir(computer.home)).every((name) => !name.endsWith('.tmp')),
    )
    expect(await readFile(at('kept'), 'utf8')).toBe('before')
  })

  test('a folder goes out and in as a tar archive', async () => {
    await mkdir(at('tree/deep'), { recursive: true })
    await writeFile(at('tree/deep/file ü'), 'content')
    await symlink('deep', at('tree/link'))
    const archive = await (await fetch(files('tree', '/tar'))).bytes()
    const put = await fetch(files('copy/of/it', '/tar'), { method: 'PUT', body: archive })
    expect(put.status).toBe(200)
    expect(await readFile(at('copy/of/it/link/file ü'), 'utf8')).toBe('content')
    const broken = await fetch(files('broken', '/tar'), { method: 'PUT', body: archive.slice(0, 700) })
    expect([broken.status, await broken.json()]).toMatchObject([400, { code: 'invalid_body' }])
    expect((await fetch(files('absent', '/tar'))).status).toBe(400)
  })

  test('a file that is cut while its folder is packed cuts the archive short, one that grows does not', async () => {
    await mkdir(at('changing'))
    const packed = async (change: () => Promise<unknown>) => {
      await writeFile(at('changing/file'), '')
      await truncate(at('changing/file'), 64 * 1024 * 1024)
      const { body } = await fetch(files('changing', '/tar'))
      let isChanged = false
      for await (const _ of body ?? []) {
        if (!isChanged) await change()
        isChanged = true
      }
    }
    await packed(() => appendFile(at('changing/file'), 'more'))
    await expect(packed(() => truncate(at('changing/file'), 1_000))).rejects.toThrow()
  })

  test('what changes below a path is told', async () => {
    await mkdir(at('watched'))
    const gone = new AbortController()
    const { body } = await fetch(files('watched', '/watch'), { signal: gone.signal })
    let told = ''
    const reading = (async () => {
      for await (const part of body ?? []) told += new TextDecoder().decode(part)
    })().catch(() => undefined)
    await until('the stream to begin', () => told.includes('welcome'))
    await writeFile(at('watched/new'), 'x')
    await until('the file', () => told.includes(`"path":"${at('watched/new')}"`))
    gone.abort()
    await reading
  })
})
