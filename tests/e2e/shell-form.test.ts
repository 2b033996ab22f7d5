import { beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tools } from '@backlot/driver'
import { type Application, startGtk3 } from '../support/applications.ts'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { proving } from '../support/proves.ts'

const on = privateDesktop()
let app: Application

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
})

const isPng = (path: string): boolean => readFileSync(path).subarray(1, 4).toString() === 'PNG'
const look = () => JSON.stringify({ pid: app.pid, window_id: app.windowId, capture_mode: 'vision' })

test(
  'every tool has its help, its description and its call',
  proving(['driver.shell.call', 'driver.version.names'], async () => {
    for (const { name, title } of tools) {
      const [help, described] = await Promise.all([on().backlot([name, '--help']), on().backlot(['describe', name])])
      expect([help.status, help.stdout.startsWith(title)]).toEqual([0, true])
      expect([described.status, JSON.parse(described.stdout).name]).toEqual([0, name])
      const { stdout, status } = await on().backlot([name, '{"frobnicate": 1}'])
      expect([name, status, JSON.parse(stdout).message]).toEqual([
        name,
        1,
        expect.stringContaining(`Unknown argument "frobnicate" for ${name}`),
      ])
    }
    const { stdout } = await on().backlot(['list-tools', '--json'])
    expect(JSON.parse(stdout).map((tool: { name: string }) => tool.name)).toEqual(tools.map((tool) => tool.name))
  }),
)

test('exit statuses tell what went wrong', async () => {
  const statuses: [string[], number, string][] = [
    [['get_screen_size', '{}'], 0, ''],
    [['get_window_state', '{}'], 1, 'Missing required integer field: pid'],
    [['get_screen_size', '{oops'], 2, 'not JSON'],
    [['get_screen_size', '[]'], 2, 'not a JSON object'],
    [['call', 'frobnicate', '{}'], 64, 'frobnicate'],
    [['get_screen_sise', '{}'], 64, 'Did you mean "get_screen_size"?'],
    [['lst-tools'], 64, 'Did you mean "list-tools"?'],
    [['get_screen_size', '{}', '--loud'], 64, '--loud'],
    [['get_screen_size', '{}', '{}'], 64, 'one argument too many'],
    [['get_screen_size', '--socket'], 64, 'needs a path'],
    [['mcp', '--allow', 'clik'], 64, 'Did you mean "click"?'],
    [['mcp-config', '--client', 'nobody'], 64, 'claude-desktop'],
    [['call'], 64, 'needs the name of a tool'],
  ]
  for (const [words, status, text] of statuses) {
    const finished = await on().backlot(words)
    expect({ words, status: finished.status, stderr: finished.stderr }).toEqual({
      words,
      status,
      stderr: expect.stringContaining(text),
    })
  }
})

test('JSON is read from standard input', async () => {
  const input = JSON.stringify({ pid: app.pid })
  for (const words of [['list_windows'], ['list_windows', '-'], ['call', 'list_windows']]) {
    const { stdout } = await on().backlot(words, { input })
    expect(JSON.parse(stdout).windows).toHaveLength(1)
  }
  expect((await on().backlot(['list_windows'], { input: '{oops' })).status).toBe(2)
})

test('a pipe that nobody writes to does not keep a call waiting', async () => {
  const child = Bun.spawn(backlotCommand('get_screen_size'), {
    env: on().env,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await child.exited).toBe(0)
  expect(JSON.parse(await child.stdout.text())).toMatchObject({ width: 1280 })
  expect(await child.stderr.text()).toContain('standard input holds nothing yet')
  child.stdin.end()
})

test('a picture becomes a file of the cache, whose path stands in the result', async () => {
  const { stdout, status } = await on().backlot(['get_window_state', look()])
  const { screenshot_file_path: path } = JSON.parse(stdout)
  expect([status, isPng(path), path.startsWith(on().home)]).toEqual([0, true, true])
})

test(
  '--screenshot-out-file says where the picture is written',
  proving(['driver.option.screenshot-out-file'], async () => {
    const file = on().path('picture.png')
    const { stdout } = await on().backlot(['get_window_state', look(), '--screenshot-out-file', file])
    expect([JSON.parse(stdout).screenshot_file_path, isPng(file)]).toEqual([file, true])
    const none = await on().backlot(['get_screen_size', '{}', '--screenshot-out-file', on().path('none.png')])
    expect([none.status, none.stderr]).toEqual([0, expect.stringContaining('no picture')])
    const nowhere = await on().backlot(['get_window_state', look(), '--screenshot-out-file', '/no/such/folder/p.png'])
    expect([nowhere.status, nowhere.stderr]).toEqual([1, expect.stringContaining('/no/such/folder/p.png')])
  }),
)

test('--raw prints the whole result', async () => {
  const { stdout } = await on().backlot(['get_window_state', look(), '--raw'])
  const { content, structuredContent } = JSON.parse(stdout)
  expect(content.map((block: { type: string }) => block.type)).toEqual(['text', 'image'])
  expect(structuredContent.window_id).toBe(app.windowId)
})

/** Runs its arguments with a small pipe in non-blocking mode, reads when it is full or the program has ended, and prints all. */
const slowReader = `
import array, fcntl, os, subprocess, sys, termios
reading, writing = os.pipe()
os.set_blocking(writing, False)
size = fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
child = subprocess.Popen(sys.argv[1:], stdout=writing)
os.close(writing)
waiting = array.array('i', [0])
while child.poll() is None and waiting[0] < size:
    fcntl.ioctl(reading, termios.FIONREAD, waiting)
with os.fdopen(reading, 'rb') as stream:
    sys.stdout.buffer.write(stream.read())
sys.exit(child.wait())
`

test('what a pipe does not take at once is written as it is read', async () => {
  const list = ['list-tools', '--json']
  const { stdout, status } = await on().run(['python3', '-c', slowReader, ...backlotCommand(...list)])
  const whole = (await on().backlot(list)).stdout
  expect([status, whole.length > 10_000, stdout === whole]).toEqual([0, true, true])
})

test('what is added to a file is all that it gets', async () => {
  const file = on().path('added')
  writeFileSync(file, 'before\n')
  const words = backlotCommand('list-tools', '--json')
  const child = Bun.spawn(['sh', '-c', '"$@" >>"$0" 2>&1', file, ...words], { env: { ...on().env } })
  expect(await child.exited).toBe(0)
  const [before, tools, ...rest] = readFileSync(file, 'utf8').split('\n')
  expect([before, rest]).toEqual(['before', ['']])
  expect((tools ?? '').length).toBeGreaterThan(1024)
  expect(JSON.parse(tools ?? '')).toBeArray()
})

test('an output without room is named', async () => {
  const child = Bun.spawn(['sh', '-c', '"$@" >/dev/full', 'sh', ...backlotCommand('--version')], { stderr: 'pipe' })
  expect([await child.stderr.text(), await child.exited]).toEqual([
    'error: There is no room left where the output goes. Make room and try again.\n',
    1,
  ])
})

test('a reader that goes away is no failure', async () => {
  const command = backlotCommand('list-tools', '--json').map((word) => `'${word}'`)
  const { status } = await on().run(['sh', '-c', `${command.join(' ')} | head -c 1 >/dev/null`])
  expect(status).toBe(0)
})

test('the configuration is shown, changed and reset', async () => {
  const config = async (...words: string[]) => {
    const { stdout, status } = await on().run(driverCommand('config', ...words))
    expect(status).toBe(0)
    return stdout.trim()
  }
  expect(JSON.parse(await config('show'))).toMatchObject({ capture_mode: 'som', max_image_dimension: 0 })
  await config('set', 'max_image_dimension', '640')
  await config('set', 'capture_mode', 'ax')
  expect([await config('get', 'max_image_dimension'), await config('get', 'capture_mode')]).toEqual(['640', 'ax'])
  expect(JSON.parse((await on().backlot(['get_config', '{}'])).stdout).max_image_dimension).toBe(640)
  await config('reset', 'capture_mode')
  expect([await config('get', 'capture_mode'), await config('get', 'max_image_dimension')]).toEqual(['som', '640'])
  writeFileSync(JSON.parse(await config('show')).config_file, 'not JSON')
  expect((await on().run(driverCommand('config', 'show'))).status).toBe(1)
  await config('reset')
  expect(JSON.parse(await config('show'))).toMatchObject({ max_image_dimension: 0 })
  for (const words of [
    ['config', 'dance'],
    ['config', 'get'],
    ['config', 'set', 'capture_mode'],
    ['config', 'get', 'x'],
  ]) {
    expect((await on().run(driverCommand(...words))).status).toBe(64)
  }
  expect((await on().run(driverCommand('config', 'set', 'capture_mode', 'all'))).status).toBe(1)
})

test('the driver name alone, with input that is no terminal, is mcp', async () => {
  const { stdout, status } = await on().run(driverCommand(), { input: '{"id":1,"method":"ping"}\n' })
  expect([JSON.parse(stdout), status]).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }, 0])
})

test('each host has a snippet that names an executable that is there', async () => {
  const { stderr } = await on().backlot(['mcp-config'])
  const names = /Known: (.*?);/.exec(stderr)?.[1]?.split(', ') ?? []
  expect(names).toEqual('claude-desktop claude-code cursor vscode windsurf zed codex gemini-cli generic'.split(' '))
  for (const name of names) {
    const { stdout, status } = await on().backlot(['mcp-config', '--client', name])
    expect([
      name,
      status,
      stdout.includes(backlotCommand()[0]),
      stdout.includes('mcp'),
      stdout.includes('DISPLAY'),
    ]).toEqual([name, 0, true, true, true])
    if (name !== 'claude-code' && name !== 'codex') JSON.parse(stdout)
    if (name === 'codex')
      expect(Bun.TOML.parse(stdout)).toMatchObject({
        mcp_servers: { backlot: { args: expect.arrayContaining(['mcp']) } },
      })
  }
  expect(existsSync(backlotCommand()[0])).toBe(true)
})
