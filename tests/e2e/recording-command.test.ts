import { beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { startGtk3 } from '../support/applications.ts'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop } from '../support/desktop.ts'
import { middleOf, type Target } from '../support/look.ts'
import { connect } from '../support/mcp-client.ts'
import { turnIn } from '../support/recorded.ts'

const on = privateDesktop()
let folder: string

beforeAll(async () => {
  const app = await startGtk3(on(), 'controls')
  const target: Target = { pid: app.pid, window_id: app.windowId }
  folder = on().path('recorded')
  await using client = await connect(on())
  await client.ask('start_recording', { output_dir: folder })
  await client.ask('click', { ...target, ...(await middleOf(client, target, 'Press me')) })
  await client.ask('type_text', { ...target, text: '</script> & {braces}' })
  await client.ask('hotkey', { ...target, keys: ['ctrl', 'f5'] })
  await client.ask('stop_recording')
})

const recording = (words: readonly string[], env: Record<string, string> = {}) =>
  on().backlot(['recording', ...words], { env })

/** What ffprobe says of a film's pictures. */
const probe = async (file: string): Promise<Record<string, string>> => {
  const entries = [
    '-show_entries',
    'stream=codec_name,width,height,nb_read_frames',
    '-count_frames',
    '-of',
    'default=nw=1',
  ]
  const { stdout, stderr } = await on().run(['ffprobe', '-v', 'error', ...entries, file])
  if (stderr !== '') throw new Error(stderr)
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=') as [string, string]),
  )
}

test('a recording without a film is exported as its screenshots, with what was pressed', async () => {
  for (const [format, codec] of [
    ['mp4', 'h264'],
    ['gif', 'gif'],
  ] as const) {
    const { stdout, stderr, status } = await recording(['export', folder, '--format', format])
    expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: `${folder}/export.${format}\n` })
    expect(stderr).toContain('its screenshots are shown instead')
    expect(await probe(`${folder}/export.${format}`)).toMatchObject({ codec_name: codec, width: '420', height: '480' })
  }
})

test('without ffmpeg an export says so, and where the file cannot be written too', async () => {
  const bare = on().path('no programs')
  mkdirSync(bare)
  const missing = await recording(['export', folder], { FFMPEG_BIN: join(bare, 'ffmpeg') })
  expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('FFMPEG_BIN') })
  const nowhere = await recording(['export', folder, '--out', '/proc/nowhere.mp4'])
  expect(nowhere.status).toBe(1)
  expect(nowhere.stderr).toContain('cannot be written to "/proc/nowhere.mp4"')
})

test('the package ffmpeg-static is used where it stands beside the executable', async () => {
  const packages = on()
    .path('node_modules')
    .replace(/[^/]+$/, 'node_modules')
  const [bin, its] = [join(packages, 'backlot', 'bin'), join(packages, 'ffmpeg-static')]
  for (const each of [bin, its]) mkdirSync(each, { recursive: true })
  const [program, ...words] = backlotCommand('recording', 'export', folder, '--out', on().path('packaged.mp4'))
  const installed = join(bin, 'backlot')
  copyFileSync(program, installed)
  const env = { PATH: bin, HOME: bin }
  const without = await on().run([installed, ...words], { env })
  expect(without).toMatchObject({ status: 1, stderr: expect.stringContaining('ffmpeg is not on PATH') })
  symlinkSync(Bun.which('ffmpeg') ?? '', join(its, 'ffmpeg'))
  expect(await on().run([installed, ...words], { env })).toMatchObject({ status: 0 })
  expect(await probe(words.at(-1) ?? '')).toMatchObject({ codec_name: 'h264' })
  rmSync(packages, { recursive: true })
})

test('a page shows the turns in a browser, with nothing beside it', async () => {
  const page = on().path('page.html')
  const { stdout, status } = await recording(['view', folder, '--out', page, '--no-open'])
  expect({ stdout, status }).toEqual({ stdout: `${page}\n`, status: 0 })
  const html = readFileSync(page, 'utf8')
  expect(html).toContain((await turnIn(folder, 1)).read('click.png').toString('base64'))
  expect(html).not.toContain('</script> & {braces}')
  const dump = on().path('profile')
  const browser = [
    'chromium',
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    `--user-data-dir=${dump}`,
    '--virtual-time-budget=2000',
  ]
  const { stdout: shown } = await on().run([...(browser as [string, ...string[]]), '--dump-dom', `file://${page}`])
  expect(shown).toContain('Click Press me')
  expect(shown).toContain('Ctrl + F5')
  expect(shown).toContain('&lt;/script&gt; &amp; {braces}')
  expect(shown.match(/aria-current="true"/g)).toHaveLength(1)
  rmSync(dump, { recursive: true, force: true })
})

test('a folder that is no recording, and words that mean nothing, are refused', async () => {
  expect(await recording(['view', on().home, '--no-open'])).toMatchObject({ status: 1 })
  for (const words of [[], ['dance'], ['view'], ['export', folder, '--format', 'avi'], ['export', folder, 'more']]) {
    expect([words, (await recording(words)).status]).toEqual([words, 64])
  }
})
