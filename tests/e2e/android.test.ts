import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fields, startComputer } from '../support/computer.ts'
import { type FakePhone, fakeScreen, fakeSerial, startFakePhone } from '../support/fake-device.ts'
import { touchesIn } from '../support/touches.ts'
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

/** What one command makes arrive at `input`. */
const inputs = async (command: string, params?: Fields): Promise<string> => {
  phone.device.arrived()
  await ask(command, params)
  const calls = phone.device.arrived('input')
  return calls.map(([, ...words]) => words.join(' ')).join('; ')
}

test('one finger: each command arrives as the words of `input`', async () => {
  const expected: [string, Fields, string][] = [
    ['left_click', { x: 5.4, y: 6 }, 'tap 5 6'],
    ['tap', { x: 5, y: 6, button: 'left', modifiers: [] }, 'tap 5 6'],
    ['double_click', { x: 1, y: 2 }, 'tap 1 2; tap 1 2'],
    ['triple_click', { x: 1, y: 2 }, 'tap 1 2; tap 1 2; tap 1 2'],
    ['mouse_down', { x: 10, y: 20 }, 'motionevent DOWN 10 20'],
    ['move_cursor', { x: 30, y: 40 }, 'motionevent MOVE 30 40'],
    ['mouse_up', {}, 'motionevent UP 30 40'],
    ['drag', { start_x: 1, start_y: 2, end_x: 3, end_y: 4 }, 'swipe 1 2 3 4 500'],
    [
      'drag',
      {
        path: [
          [1, 2],
          [3, 4],
        ],
        duration: 0.25,
      },
      'swipe 1 2 3 4 250',
    ],
    // The finger goes down for what is above, and as often as the screen has no room for all of it.
    ['scroll', { x: 500, y: 900, scroll_y: 2 }, 'swipe 500 900 500 1140 400'],
    ['scroll', { y: -1 }, 'swipe 540 960 540 840 400'],
    ['scroll_up', { clicks: 1, x: 100, y: 200 }, 'swipe 100 200 100 320 400'],
    ['scroll_down', { clicks: 20, x: 540, y: 1_840 }, 'swipe 540 1840 540 80 400; swipe 540 1840 540 1200 400'],
    ['scroll_direction', { direction: 'right', x: 900, y: 500 }, 'swipe 900 500 780 500 400'],
    ['press_key', { key: 'Return' }, 'keyevent 66'],
    ['press_key', { key: 'a' }, 'keyevent 29'],
    ['press_key', { key: 'page_down' }, 'keyevent 93'],
    ['press_key', { key: 'KEYCODE_CAMERA' }, 'keyevent KEYCODE_CAMERA'],
    ['hotkey', { keys: ['volume_up'] }, 'keyevent 24'],
    ['type_text', { text: 'a b\n%s', delay: 0.001 }, 'text a; text  ; text b; keyevent 66; text %; text s'],
  ]
  for (const [command, params, words] of expected)
    expect([command, await inputs(command, params)]).toEqual([command, words])
  phone.device.set('sdk', '33\n')
  expect(await inputs('hotkey', { keys: ['ctrl', 'c'] })).toBe('keycombination 113 31')
  phone.device.set('sdk', '30\n')
})

test('a drag along a path is one finger of the touch screen, which turns with the glass', async () => {
  phone.device.set('touch', '')
  await ask('drag', {
    path: [
      [100, 100],
      [400, 100],
      [400, 700],
    ],
    duration: 0.1,
  })
  const reports = touchesIn(phone.device.read('touch'))
  expect(reports.map((fingers) => Object.values(fingers)[0])).toEqual([
    [100, 100],
    [220, 100],
    [340, 100],
    [400, 220],
    [400, 460],
    [400, 700],
    undefined,
  ])
  // Turned by a quarter to the left, the picture's top left is the glass's top right.
  phone.device.set('turn', '1\n')
  phone.device.set('touch', '')
  await ask('multitouch_gesture', { fingers: [{ start: [0, 0], end: [0, 0] }], duration_ms: 0, steps: 1 })
  expect(touchesIn(phone.device.read('touch'))[0]).toEqual({ 0: [fakeScreen.width - 1, 0] })
  phone.device.set('turn', '0\n')
})

test('a gesture whose caller goes away lifts its fingers', async () => {
  phone.device.set('touch', '')
  const caller = new AbortController()
  const body = JSON.stringify({
    command: 'multitouch_gesture',
    params: { fingers: [{ start: [1, 2], end: [3, 4] }], duration_ms: 60_000 },
  })
  const headers = { 'Content-Type': 'application/json' }
  const call = fetch(`${phone.computer.url}/cmd`, { method: 'POST', headers, body, signal: caller.signal }).catch(
    () => 'gone',
  )
  await until('the finger to be down', () => phone.device.read('touch').byteLength > 0)
  caller.abort()
  expect(await call).toBe('gone')
  await until(
    'the finger to be up',
    () => Object.keys(touchesIn(phone.device.read('touch')).at(-1) ?? { 0: 0 }).length === 0,
  )
})

test('what a device cannot do is refused with its reason and the way out, and nothing arrives', async () => {
  phone.device.arrived()
  const refused: [string, Fields, string][] = [
    ['right_click', { x: 1, y: 2 }, 'has no right button'],
    ['left_click', { x: 1, y: 2, button: 'right' }, 'has no right button'],
    ['left_click', { x: 1, y: 2, modifiers: ['ctrl'] }, 'holds no modifiers'],
    ['get_cursor_position', {}, 'has no pointer'],
    ['move_cursor', { x: 1, y: 2 }, 'no finger is down'],
    ['mouse_up', {}, 'no finger is down'],
    ['drag_to', { x: 1, y: 2 }, 'use drag with both ends'],
    ['key_down', { key: 'a' }, 'use press_key'],
    ['set_clipboard', { text: 'x' }, 'app_process: inaccessible or not found'],
    ['set_wallpaper', { path: '/etc/passwd', target: 'home' }, 'The agent does not start'],
    ['hotkey', { keys: ['ctrl', 'c'] }, 'API 30'],
    ['maximize_window', {}, 'not for android'],
  ]
  for (const [command, params, why] of refused) {
    expect([command, await send(command, params)]).toEqual([
      command,
      expect.objectContaining({ success: false, code: 'not_available', error: expect.stringContaining(why) }),
    ])
  }
  expect(await send('left_click', {})).toMatchObject({ code: 'missing_argument' })
  expect(await send('press_key', { key: 'hyper' })).toMatchObject({ code: 'invalid_argument' })
  expect(phone.device.arrived('input', 'am')).toEqual([])
  phone.device.set('refuse.input', 'Error: Injecting to another application')
  expect(await send('left_click', { x: 1, y: 2 })).toMatchObject({
    code: 'device_failed',
    error: '"input tap 1 2" ended with 255 on the device: Error: Injecting to another application',
  })
  phone.device.unset('refuse.input')
})

test('a screenshot is the picture of the device, as PNG byte for byte or as JPEG', async () => {
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  )
  const png = Buffer.from(await new Bun.Image(pixel).resize(64, 96).png().buffer())
  phone.device.set('screen.png', png)
  expect(await ask('screenshot')).toEqual({
    success: true,
    image_data: png.toString('base64'),
    format: 'png',
    width: 64,
    height: 96,
  })
  const jpeg = await ask('screenshot', { format: 'jpg', quality: 40 })
  const bytes = Buffer.from(String(jpeg.image_data), 'base64')
  expect([jpeg.format, jpeg.width, jpeg.height, bytes.toString('hex', 0, 3)]).toEqual(['jpeg', 64, 96, 'ffd8ff'])
  expect(await ask('get_screen_size')).toMatchObject({ size: fakeScreen })
  phone.device.set('screen.png', 'no picture')
  expect(await send('screenshot')).toMatchObject({ success: false, code: 'device_failed' })
})

test('the tree has the fields of desktops beside those of Android', async () => {
  const attributes =
    'package="com.example.notes" checked="false" focused="false" scrollable="false" password="false" selected="false"'
  phone.device.set(
    'tree.xml',
    `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0"><node index="0" text="" resource-id="" class="android.widget.FrameLayout" content-desc="" checkable="false" clickable="false" enabled="true" focusable="false" long-clickable="false" bounds="[0,0][1080,1920]" ${attributes}><node index="0" text="Save &amp; &quot;close&quot; &#128512; a&gt;b" resource-id="com.example.notes:id/save" class="android.widget.Button" content-desc="" checkable="false" clickable="true" enabled="false" focusable="true" long-clickable="true" bounds="[40,100][240,180]" ${attributes} /><node index="1" text="milk" class="android.widget.EditText" content-desc="Note" enabled="true" bounds="[0,200][10,220]" ${attributes} /></node></hierarchy>`,
  )
  const { tree, truncated } = (await ask('get_accessibility_tree')) as {
    tree: { children: { children: Fields[] }[] }
    truncated: boolean
  }
  expect(truncated).toBe(false)
  const [save, note] = tree.children[0]?.children ?? []
  expect(save).toMatchObject({
    role: 'Button',
    title: 'Save & "close" 😀 a>b',
    value: null,
    enabled: false,
    position: { x: 40, y: 100 },
    size: { width: 200, height: 80 },
    bounds: { x: 40, y: 100, width: 200, height: 80 },
    actions: ['click', 'long_click', 'focus'],
    resource_id: 'com.example.notes:id/save',
    class_name: 'android.widget.Button',
    package: 'com.example.notes',
    children: [],
  })
  expect(note).toMatchObject({ role: 'EditText', title: 'Note', value: 'milk' })
  expect(await ask('find_element', { value: 'MILK' })).toMatchObject({ count: 1, element: { title: 'Note' } })
  expect(await send('find_element', { title: 'nowhere' })).toMatchObject({ code: 'element_not_found' })
  phone.device.set('restless', '')
  expect(await send('get_accessibility_tree')).toMatchObject({
    code: 'device_failed',
    error: expect.stringContaining('idle state'),
  })
  phone.device.unset('restless')
  phone.device.set('tree.xml', '<hierarchy rotation="0"><node class="a">')
  expect(await send('get_accessibility_tree')).toMatchObject({
    code: 'device_failed',
    error: expect.stringContaining('not whole'),
  })
  expect((await ask('list_dir', { path: '~' })).files).toEqual([])
})

test('launch answers when the first frame is drawn, and says what Android does not start', async () => {
  phone.device.unset('drawn')
  phone.device.arrived()
  let isDone = false
  const launched = ask('launch', { app: 'com.example.notes', args: ['--es', 'title', "it's; reboot"] }).finally(() => {
    isDone = true
  })
  const [start] = await until('the start to arrive', () => {
    const calls = phone.device.arrived('am')
    return calls.length > 0 && calls
  })
  expect(start).toEqual(['am', 'start', '-W', '-n', 'com.example.notes/.Main', '--es', 'title', "it's; reboot"])
  expect(isDone).toBe(false)
  phone.device.set('drawn', '')
  expect(await launched).toEqual({ success: true, pid: 4242, window_id: null, running: true })
  expect(await send('launch', { app: 'com.example.absent' })).toMatchObject({ code: 'app_not_found' })
  expect(await send('launch', { app: 'x; reboot' })).toMatchObject({ code: 'invalid_argument' })
  expect(await send('launch', { app: 'com.example.broken' })).toMatchObject({
    code: 'device_failed',
    error: expect.stringContaining('does not exist'),
  })
  phone.device.arrived()
  expect(await ask('open', { target: 'https://example.com/?a=1&b=$(reboot)' })).toMatchObject({ pid: 4242 })
  expect(phone.device.arrived('am')).toEqual([
    ['am', 'start', '-W', '-a', 'android.intent.action.VIEW', '-d', 'https://example.com/?a=1&b=$(reboot)'],
  ])
  expect(await send('open', { target: '/data/nothing' })).toMatchObject({ code: 'file_not_found' })
  expect(await ask('get_active_window_title')).toMatchObject({ result: 'com.example.notes/com.example.notes.Main' })
  expect(await ask('get_environment')).toMatchObject({ environment: 'android' })
})

test('a shell command: its streams, status, variables, folder, input, time, and what it leaves behind', async () => {
  const run = (command: string, params: Fields = {}) => send('run_command', { command, ...params })
  expect(await run('echo out; echo err >&2; exit 7')).toEqual({
    success: true,
    stdout: 'out\n',
    stderr: 'err\n',
    return_code: 7,
    returncode: 7,
  })
  const quoted = 'a\'b $(id) \\ " ü\n'
  expect(await run('printf %s "$TEXT"; pwd', { env: { TEXT: quoted }, cwd: '~' })).toMatchObject({
    stdout: `${quoted}/data/local/tmp\n`,
  })
  expect(await run('cat', { stdin: 'line\nmore' })).toMatchObject({ stdout: 'line\nmore', return_code: 0 })
  expect(await run('sleep 1000 & echo left')).toMatchObject({ stdout: 'left\n', return_code: 0 })
  expect(await run('kill -TERM $$')).toMatchObject({ success: true, return_code: 143 })
  expect(await run('pwd', { cwd: '/nowhere' })).toMatchObject({ code: 'invalid_argument' })
  expect(await run('syntax (')).toMatchObject({ success: true, return_code: 2 })
  // The second process of it is of the session too.
  const late = await run('echo early; sleep 2000 & sleep 2000; true', { timeout: 0.3 })
  expect(late).toMatchObject({
    success: false,
    code: 'command_timed_out',
    error: 'Command timed out after 0.3s',
    stdout: 'early\n',
  })
  await until('its processes to end', async () => (await run('pgrep -x -f "sleep 2000"')).stdout === '')
  // The process of a command is the shell around it.
  const signalled = run('echo $PPID >pid; sleep 3000', { cwd: '~' })
  const pid = await until('its process', async () => Number((await run('cat ~/pid')).stdout) || undefined)
  await ask('command_signal', { pid })
  expect(await signalled).toMatchObject({ success: true, return_code: 143 })
  expect(await send('command_signal', { pid })).toMatchObject({ code: 'command_not_found' })
  await ask('delete_file', { path: 'pid' })
  expect((await run('head -c 300000 /dev/zero | tr "\\0" x | wc -c')).stdout).toBe('300000\n')
  expect(String((await run('head -c 300000 /dev/zero | tr "\\0" x')).stdout).length).toBe(300_000)
})

test('the server lists the commands of a device, of which those about windows are none', async () => {
  expect(await ask('version')).toMatchObject({ success: true })
  expect(await ask('get_desktop_environment')).toMatchObject({ desktop_environment: 'android' })
  for (const command of ['to_screen_coordinates', 'to_screenshot_coordinates']) {
    expect(await ask(command, { x: 12, y: 34 })).toMatchObject({ coordinates: [12, 34] })
  }
  const echo = ask('run_command', { command: 'echo $PPID >pid; cat', cwd: '~', stdin_open: true })
  const pid = await until('its process', async () => {
    const { stdout } = await ask('run_command', { command: 'cat pid', cwd: '~' })
    return Number(stdout) || undefined
  })
  await ask('command_input', { pid, data_b64: btoa('typed'), end: true })
  expect(await echo).toMatchObject({ stdout: 'typed', return_code: 0 })
  expect(await ask('stat', { path: 'pid' })).toMatchObject({ success: true })
  await ask('delete_file', { path: 'pid' })
  const terminal = await ask('terminal_create', { shell: 'sleep 4000' })
  await ask('terminal_resize', { pid: terminal.pid, cols: 50, rows: 20 })
  expect(await ask('terminal_close', { pid: terminal.pid })).toMatchObject({ killed: true })
  const refused = ['key_up', 'middle_click'].map((command) => send(command, { key: 'a', x: 1, y: 2 }))
  expect((await Promise.all(refused)).map(({ code }) => code)).toEqual(['not_available', 'not_available'])
  const { commands } = (await (await fetch(`${phone.computer.url}/commands`)).json()) as { commands: Fields }
  const listed = Object.keys(commands)
  expect(listed).toHaveLength(57)
  expect(listed.filter((command) => command.includes('window'))).toEqual(['get_active_window_title'])
})

test('a tunnel leads to a port of the device, and to an abstract socket', async () => {
  const talk = async (query: string): Promise<string> => {
    const socket = new WebSocket(`${phone.computer.url.replace('http', 'ws')}/tunnel?${query}`)
    socket.binaryType = 'arraybuffer'
    let said = ''
    const ended = Promise.withResolvers<void>()
    socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') said += Buffer.from(data as ArrayBuffer).toString()
      else if (data.includes('"open"')) socket.send(Buffer.from('ping\n'))
      else if (data.includes('"refused"')) said += data
      if (said.includes('\n') || said.includes('refused')) socket.close()
    }
    socket.onclose = () => ended.resolve()
    await ended.promise
    return said
  }
  const server = `import socket,sys
s=socket.socket(socket.AF_UNIX if sys.argv[1]=="u" else socket.AF_INET); s.bind("\\0notes" if sys.argv[1]=="u" else ("127.0.0.1",7001)); s.listen(); print("up",flush=True)
c,_=s.accept(); c.sendall(b"pong of "+c.recv(100)); c.close()`
  await ask('write_text', { path: 'server.py', content: server })
  for (const [kind, query] of [
    ['i', 'port=7001'],
    ['u', 'socket=notes'],
  ]) {
    await ask('run_command', {
      command: `python3 server.py ${kind} >said 2>&1 & until grep -q up said; do sleep 0.02; done; rm said`,
      timeout: 30,
      cwd: '~',
    })
    expect(await talk(String(query))).toBe('pong of ping\n')
  }
  expect(await talk('port=7002')).toContain('refused')
})

test('while a device boots /status says how far it is; one that is lost is found again', async () => {
  const { device } = phone
  device.unset('booted')
  await using second = await startComputer(
    ['--android', '--serial', '127.0.0.1:1', '--listen', `unix:${phone.computer.home}/second`],
    device.environment,
  )
  const socket = `${phone.computer.home}/second`
  const status = async () =>
    (await (await fetch('http://localhost/status', { unix: socket } as RequestInit)).json()) as Fields
  await until('a reason', async () => String((await status()).reason).includes('not found'))
  expect(await status()).toMatchObject({ os_type: 'android', phase: 'starting', percent: 0, features: [] })
  expect(await second.end()).toBe(0)
  await using third = await startComputer(
    ['--android', '--serial', fakeSerial, '--listen', `unix:${socket}`],
    device.environment,
  )
  await until('the boot', async () => (await status()).percent === 80)
  expect(await status()).toMatchObject({ phase: 'starting', reason: `${fakeSerial}: the system starts its services` })
  device.set('booted', '')
  await until('the end of the boot', async () => (await status()).phase === 'ready')
  expect(await status()).not.toHaveProperty('percent')
  expect(await third.end()).toBe(0)
})

test('the command refuses what does not go together', async () => {
  const refuse = async (...args: string[]) =>
    startComputer(args).then(
      async (computer) => computer.end(),
      (error: Error) => error.message,
    )
  expect(await refuse('--serial', 'x', '--port', '0')).toContain('--serial is for --android')
  expect(await refuse('--boot-reason', '/none', '--port', '0')).toContain('--boot-reason is for --android')
  expect(await refuse('--android', '--view-port', '0', '--port', '0')).toContain('--desktop')
})
