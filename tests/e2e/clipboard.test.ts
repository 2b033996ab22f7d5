import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { element, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
let target: Target

beforeAll(async () => {
  const app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface Clip {
  readonly text: string | null
  readonly files: readonly string[]
  readonly image_file_path: string | null
}

const pasted = async (target: string): Promise<string> =>
  (await on().run(['xclip', '-selection', 'clipboard', '-o', '-t', target])).stdout

/** Copies with xclip, which holds it in a process of its own until another program copies. */
const copied = async (text: string): Promise<Bun.Subprocess> => {
  const file = on().path('copied')
  writeFileSync(file, text)
  const xclip = on().start(['xclip', '-quiet', '-selection', 'clipboard', '-i', file])
  await until('xclip to own the clipboard', async () => (await pasted('UTF8_STRING')) === text)
  return xclip
}

test('text goes to other programs and comes from them', async () => {
  const text = 'Grüße\n世界 😀'
  expect(await client.ask<Record<string, unknown>>('clipboard_write', { text })).toMatchObject({
    effect: 'confirmed',
    text_length: text.length,
  })
  expect(await pasted('UTF8_STRING')).toBe(text)
  expect(await client.ask<Clip>('clipboard_read')).toMatchObject({
    text,
    text_length: text.length,
    files: [],
    image_file_path: null,
  })
  await copied('from xclip')
  expect(await client.ask<Clip>('clipboard_read')).toMatchObject({ text: 'from xclip' })
})

test('an application pastes what is written, and what it copies is read', async () => {
  await client.ask('clipboard_write', { text: 'pasted Äß' })
  const { element_index } = await element(client, target, 'Name')
  const field = { ...target, element_index }
  await client.ask('press_key', { ...field, key: 'a', modifiers: ['ctrl'] })
  await client.ask('press_key', { ...field, key: 'v', modifiers: ['ctrl'] })
  await until('the text in the field', async () => (await element(client, target, 'Name')).value === 'pasted Äß')
  await client.ask('press_key', { ...field, key: 'end' })
  await client.ask('type_text', { ...field, text: '!' })
  await client.ask('press_key', { ...field, key: 'a', modifiers: ['ctrl'] })
  await client.ask('press_key', { ...field, key: 'c', modifiers: ['ctrl'] })
  await until('the copy', async () => (await client.ask<Clip>('clipboard_read')).text === 'pasted Äß!')
})

test('pictures and files go both ways', async () => {
  const picture = on().path('picture.png')
  await client.ask('get_window_state', { ...target, screenshot_out_file: picture })
  expect(
    await client.ask<object>('clipboard_write', { image_file: picture, files: [picture, '/etc/a b'] }),
  ).toMatchObject({ text_length: 0, image_bytes: statSync(picture).size, files: [picture, '/etc/a b'] })
  const out = on().path('out.png')
  const read = await client.ask<Clip>('clipboard_read', { image_out_file: out })
  expect(read).toMatchObject({ image_file_path: out, files: [picture, '/etc/a b'] })
  expect(readFileSync(out).equals(readFileSync(picture))).toBe(true)
  expect((await client.call('clipboard_read')).image?.equals(readFileSync(picture))).toBe(true)
  expect(await pasted('text/uri-list')).toBe(`file://${picture}\r\nfile:///etc/a%20b\r\n`)
})

test('what cannot be copied is refused, and a hung owner costs a bounded time', async () => {
  const refused = (args: Record<string, unknown>, code: string) =>
    client.call('clipboard_write', args).then((result) => expect(result.structured).toMatchObject({ code }))
  await refused({}, 'missing_argument')
  await refused({ image_file: '/etc/hosts' }, 'invalid_argument')
  await refused({ image_file: '/nonexistent.png' }, 'invalid_argument')
  await refused({ files: ['relative'] }, 'invalid_argument')
  const xclip = await copied('stuck')
  xclip.kill('SIGSTOP')
  try {
    const reading = client.call('clipboard_read')
    await client.ask('list_windows')
    expect((await reading).structured).toMatchObject({ code: 'clipboard_timeout' })
    await client.ask('clipboard_write', { text: 'goes on' })
    expect(await pasted('UTF8_STRING')).toBe('goes on')
  } finally {
    xclip.kill('SIGCONT')
  }
})

test('a pause keeps the clipboard as the person left it', async () => {
  await copied('of the person')
  await on().run(driverCommand('pause'))
  expect((await client.call('clipboard_write', { text: 'x' })).structured).toMatchObject({ code: 'paused_by_person' })
  expect(await client.ask<Clip>('clipboard_read')).toMatchObject({ text: 'of the person' })
  await on().run(driverCommand('resume'))
})
