import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Fields } from '../support/computer.ts'
import { type FakePhone, startFakePhone } from '../support/fake-device.ts'
import { until } from '../support/until.ts'

let phone: FakePhone

beforeAll(async () => {
  phone = await startFakePhone()
})

afterAll(async () => {
  await phone?.[Symbol.asyncDispose]()
})

const ask = (command: string, params?: Fields) => phone.computer.ask(command, params)
const send = (command: string, params?: Fields) => phone.computer.send(command, params)

test('files: what is written is read, whole or not at all, and what the device refuses has its code', async () => {
  const path = "/data/local/tmp/it's $HOME; a 文.txt"
  const bytes = Buffer.from(Array.from({ length: 200_001 }, (_, at) => at % 251))
  await ask('write_bytes', { path, content_b64: bytes.toString('base64') })
  expect(Buffer.from(String((await ask('read_bytes', { path })).content), 'base64').equals(bytes)).toBe(true)
  const part = await ask('read_bytes', { path, offset: 70_000, length: 5 })
  expect(Buffer.from(String(part.content_b64), 'base64')).toEqual(bytes.subarray(70_000, 70_005))
  expect(await ask('get_file_size', { path })).toMatchObject({ size: 200_001 })
  expect(await ask('file_exists', { path })).toMatchObject({ exists: true })
  expect(await ask('directory_exists', { path })).toMatchObject({ exists: false })
  await ask('create_dir', { path: 'a/b' })
  await ask('move_path', { from: path, to: 'a/b/c' })
  await ask('run_command', { command: 'ln -s c a/b/link; chmod 600 a/b/c', cwd: '~' })
  await ask('write_text', { path: 'a/b/link', content: 'grüße' })
  await ask('write_text', { path: 'a/b/link', content: '!', append: true })
  expect(await ask('read_text', { path: 'a/b/c' })).toMatchObject({ content: 'grüße!' })
  expect(await ask('run_command', { command: 'stat -c %a a/b/c; ls -A a/b', cwd: '~' })).toMatchObject({
    stdout: '600\nc\nlink\n',
  })
  expect(await ask('list_dir', { path: 'a/b' })).toMatchObject({
    files: ['c', 'link'],
    entries: [
      { name: 'c', is_dir: false, size: 8, type: 'file' },
      { name: 'link', is_dir: false, size: 8, type: 'symlink', target: 'c' },
    ],
  })
  const codes: [string, Fields, string][] = [
    ['read_text', { path: 'nothing' }, 'file_not_found'],
    ['read_text', { path: 'a' }, 'invalid_argument'],
    ['write_text', { path: 'none/x', content: '' }, 'file_not_found'],
    ['remove_path', { path: 'a' }, 'folder_not_empty'],
    ['delete_file', { path: 'a' }, 'invalid_argument'],
    ['delete_dir', { path: '/' }, 'file_refused'],
    ['list_dir', { path: 'a/b/c' }, 'file_not_found'],
    ['write_text', { path: '/proc/version', content: 'x' }, 'file_refused'],
  ]
  for (const [command, params, code] of codes)
    expect([command, (await send(command, params)).code]).toEqual([command, code])
  await ask('delete_dir', { path: 'a' })
  expect((await ask('list_dir', { path: '~' })).files).toEqual([])
})

test('/files and /files/tar stream into the device and out of it', async () => {
  const at = (route: string, path: string) => `${phone.computer.url}${route}?path=${encodeURIComponent(path)}`
  const bytes = Buffer.alloc(3_000_000, 'stream')
  const put = await fetch(`${at('/files', 'up/big')}&parents=true&mode=640`, { method: 'PUT', body: bytes })
  expect(await put.json()).toEqual({ path: '/data/local/tmp/up/big', size: bytes.byteLength })
  const got = await fetch(at('/files', 'up/big'))
  expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true)
  const archive = await (await fetch(at('/files/tar', 'up'))).arrayBuffer()
  expect((await fetch(at('/files/tar', 'down'), { method: 'PUT', body: archive })).status).toBe(200)
  expect(await ask('run_command', { command: 'cmp up/big down/big && stat -c %a down/big', cwd: '~' })).toMatchObject({
    stdout: '640\n',
  })
  const broken = await fetch(at('/files/tar', 'down'), { method: 'PUT', body: 'no archive' })
  expect([broken.status, await broken.json()]).toEqual([400, expect.objectContaining({ code: 'invalid_body' })])
  expect(await (await fetch(at('/files', 'up'))).json()).toMatchObject({ code: 'invalid_argument' })
})

/** Watches a path; what is told is gathered until the signal. */
const watching = async (path: string, signal: AbortSignal) => {
  const address = `${phone.computer.url}/files/watch?path=${encodeURIComponent(path)}&recursive=false`
  const { body, status } = await fetch(address, { signal })
  const told: string[] = []
  const read = async () => {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      told.push(
        ...Array.from(text.matchAll(/"path":"([^"]*)","(?:what|message)":"(.*?)"/g), ([, at, what]) => `${what} ${at}`),
      )
    }
  }
  return { status, told, ended: read().catch(() => undefined) }
}

test('/files/watch tells of what changes in a folder or of a file, and nothing is left when nobody listens', async () => {
  const folder = "/data/local/tmp/it's: a folder"
  await ask('run_command', { command: `mkdir "${folder}" && touch "${folder}/one: 1"` })
  const gone = new AbortController()
  const one = await watching(`${folder}/one: 1`, gone.signal)
  const all = await watching(folder, gone.signal)
  const steps: [command: string, told: string][] = [
    ['echo x >ünd', `created ${folder}/ünd`],
    ['mv ünd other', `removed ${folder}/ünd`],
    ['echo y >>other', `changed ${folder}/other`],
    ['rm other', `removed ${folder}/other`],
    // As editors do: another file in its place.
    ['echo z >new && mv new "one: 1"', `created ${folder}/one: 1`],
  ]
  for (const [command, told] of steps) {
    await ask('run_command', { command, cwd: folder })
    await until(told, () => all.told.includes(told))
  }
  await until('the one', () => one.told.includes(`created ${folder}/one: 1`))
  expect(one.told.filter((told) => !told.endsWith('/one: 1'))).toEqual([])

  const watchers = async () => (await ask('run_command', { command: 'pgrep -c inotifyd' })).stdout
  expect(await watchers()).toBe('2\n')
  gone.abort()
  await Promise.all([one.ended, all.ended])
  await until('the ends of the watchers', async () => (await watchers()) === '0\n')
})

test('a watched folder that goes away ends the events with the reason; what cannot be watched is refused', async () => {
  await ask('run_command', { command: 'mkdir short', cwd: '~' })
  const short = await watching('/data/local/tmp/short', new AbortController().signal)
  await ask('run_command', { command: 'rmdir short', cwd: '~' })
  await short.ended
  expect(short.told.at(-1)).toBe('The folder is gone, or the device ended its watcher. /data/local/tmp/short')
  const refused = async (query: string) => (await fetch(`${phone.computer.url}/files/watch?${query}`)).json()
  expect(await refused('path=/nowhere&recursive=false')).toMatchObject({ code: 'file_not_found' })
  expect(await refused('path=/data')).toMatchObject({ code: 'not_available' })
})
