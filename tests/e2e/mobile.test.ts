import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Mobile, Sandbox } from '@backlot/sdk'
import { startComputer } from '../support/computer.ts'
import { type FakePhone, startFakePhone } from '../support/fake-device.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { touchesIn } from '../support/touches.ts'
import { until } from '../support/until.ts'

let phone: FakePhone

beforeAll(async () => {
  phone = await startFakePhone()
})

afterAll(async () => {
  await phone?.[Symbol.asyncDispose]()
})

const device = async () => {
  sandboxHome()
  const sandbox = await Sandbox.connect('phone', { httpUrl: phone.computer.url })
  const arrived = () => phone.device.arrived('input', 'cmd', 'am')
  return {
    mobile: sandbox.mobile,
    arrived,
    /** What one call makes arrive at the programs of the device. */
    async of(act: (mobile: Mobile) => Promise<void>): Promise<string[][]> {
      phone.device.arrived()
      await act(sandbox.mobile)
      return arrived()
    },
    [Symbol.asyncDispose]: () => sandbox.disconnect(),
  }
}

const input = (...words: (string | number)[]) => [['input', ...words.map(String)]]

test(
  'one finger and its defaults arrive as arguments of `input`, in pixels of the screen',
  proving(
    [
      'sandbox.mobile.pixels',
      'sandbox.mobile.tap',
      'sandbox.mobile.long-press',
      'sandbox.mobile.swipe',
      'sandbox.mobile.single-touch',
    ],
    async () => {
      await using held = await device()
      expect(await held.of((mobile) => mobile.tap(540, 1_900))).toEqual(input('tap', 540, 1_900))
      expect(await held.of((mobile) => mobile.longPress(1, 2))).toEqual(input('swipe', 1, 2, 1, 2, 1_000))
      const slowly = await held.of((mobile) => mobile.longPress(1, 2, { durationMs: 2_500 }))
      expect(slowly).toEqual(input('swipe', 1, 2, 1, 2, 2_500))
      expect(await held.of((mobile) => mobile.swipe(1, 2, 3, 4))).toEqual(input('swipe', 1, 2, 3, 4, 300))
      const slow = await held.of((mobile) => mobile.swipe(1, 2, 3, 4, { durationMs: 900 }))
      expect(slow).toEqual(input('swipe', 1, 2, 3, 4, 900))
    },
  ),
)

test(
  'a double tap is two taps of one command; scrolls and flings are swipes with their own defaults',
  proving(
    [
      'sandbox.mobile.double-tap',
      'sandbox.mobile.scroll-vertical',
      'sandbox.mobile.scroll-horizontal',
      'sandbox.mobile.fling',
    ],
    async () => {
      await using held = await device()
      expect(await held.of((mobile) => mobile.doubleTap(7, 8))).toEqual([...input('tap', 7, 8), ...input('tap', 7, 8)])
      const swipes: [(mobile: Mobile) => Promise<void>, number[]][] = [
        [(mobile) => mobile.scrollUp(500, 700), [500, 700, 500, 1_300, 400]],
        [(mobile) => mobile.scrollDown(500, 700), [500, 700, 500, 100, 400]],
        [(mobile) => mobile.scrollLeft(500, 700), [500, 700, 900, 700, 300]],
        [(mobile) => mobile.scrollRight(500, 700), [500, 700, 100, 700, 300]],
        [(mobile) => mobile.scrollDown(5, 70, { distance: 30, durationMs: 50 }), [5, 70, 5, 40, 50]],
        [(mobile) => mobile.fling(1, 2, 3, 4), [1, 2, 3, 4, 100]],
      ]
      for (const [act, expected] of swipes) expect(await held.of(act)).toEqual(input('swipe', ...expected))
    },
  ),
)

test(
  'keys arrive as their Android key codes, and the shade by the status bar',
  proving(
    ['sandbox.mobile.key', 'sandbox.mobile.navigation', 'sandbox.mobile.hardware', 'sandbox.mobile.editing'],
    async () => {
      await using held = await device()
      const keys = {
        home: 3,
        back: 4,
        recents: 187,
        power: 26,
        volumeUp: 24,
        volumeDown: 25,
        enter: 66,
        backspace: 67,
        wake: 224,
      } as const
      for (const [name, code] of Object.entries(keys)) {
        const pressed = await held.of((mobile) => mobile[name as keyof typeof keys]())
        expect(pressed).toEqual(input('keyevent', code))
      }
      expect(await held.of((mobile) => mobile.key(82))).toEqual(input('keyevent', 82))
      const opened = await held.of((mobile) => mobile.notifications())
      expect(opened).toEqual([['cmd', 'statusbar', 'expand-notifications']])
      const closed = await held.of((mobile) => mobile.closeNotifications())
      expect(closed).toEqual([['cmd', 'statusbar', 'collapse']])
    },
  ),
)

test(
  'a text is typed as it is, whatever characters it has, and no shell reads it',
  proving(['sandbox.mobile.type-text'], async () => {
    await using held = await device()
    const ascii = `$(input tap 1 1) %s 100%% "';  \\ & | > * ~\`reboot\` -n\ttab\nline\n`
    phone.device.set('typed', '')
    const arrived = await held.of((mobile) => mobile.typeText(ascii))
    expect(phone.device.typed()).toBe(ascii)
    expect(arrived.every(([program, what]) => program === 'input' && (what === 'text' || what === 'keyevent'))).toBe(
      true,
    )
    const any = `Grüße, 世界 😀 %s ${ascii}`
    await held.of(async (mobile) => {
      const refused = mobile.typeText(any).catch((error: { message: string }) => error.message)
      expect(await refused).toContain('have no "ü"')
      expect(phone.device.typed()).toBe(ascii)
    })
    phone.device.set('typed', '')
    phone.device.set('input-method', 'com.android.adbkeyboard/.AdbIME')
    await held.mobile.typeText(any)
    expect(phone.device.typed()).toBe(any)
    phone.device.set('input-method', 'com.android.inputmethod.latin/.LatinIME')
  }),
)

test(
  'fingers that move at once arrive as one gesture, which pairs points and counts its steps',
  proving(
    [
      'sandbox.mobile.gesture',
      'sandbox.mobile.gesture.even',
      'sandbox.mobile.gesture.steps',
      'sandbox.mobile.pinch',
      'sandbox.mobile.multi-touch',
    ],
    async () => {
      await using held = await device()
      /** Where each finger begins and ends, and in how many steps, as the touch screen was made to send it. */
      const sent = async (act: (mobile: Mobile) => Promise<void>): Promise<unknown> => {
        phone.device.set('touch', '')
        await act(held.mobile)
        const reports = touchesIn(phone.device.read('touch'))
        expect(reports.pop()).toEqual({})
        const [first = {}, last = {}] = [reports.at(0), reports.at(-1)]
        expect(reports.every((fingers) => Object.keys(fingers).length === Object.keys(first).length)).toBe(true)
        return [Object.keys(first).map((slot) => [first[Number(slot)], last[Number(slot)]]), reports.length - 1]
      }
      const one = [
        [100, 200],
        [300, 400],
      ] as const
      const other = [
        [500, 600],
        [700, 800],
      ] as const
      expect(await sent((mobile) => mobile.gesture(...one, ...other))).toEqual([[one, other], 20])
      const brief = await sent((mobile) => mobile.gesture(...one, ...other, { durationMs: 60 }))
      expect(brief).toEqual([[one, other], 5])
      const counted = await sent((mobile) => mobile.gesture(...one, { durationMs: 219, steps: 9 }))
      expect(counted).toEqual([[one], 9])
      expect(await sent((mobile) => mobile.gesture(...one, { durationMs: 219 }))).toEqual([[one], 10])
      const left = (from: number, to: number) => [
        [500 - from, 600],
        [500 - to, 600],
      ]
      const right = (from: number, to: number) => [
        [500 + from, 600],
        [500 + to, 600],
      ]
      expect(await sent((mobile) => mobile.pinchIn(500, 600))).toEqual([[left(150, 15), right(150, 15)], 20])
      const apart = await sent((mobile) => mobile.pinchOut(500, 600, { spread: 200, durationMs: 200 }))
      expect(apart).toEqual([[left(10, 100), right(10, 100)], 10])
      const odd = held.mobile.gesture([1, 2], [3, 4], [5, 6])
      await expect(odd).rejects.toMatchObject({
        code: 'invalid_argument',
        message: '"fingerPaths" holds 3 points; each finger takes two, where it starts and where it ends.',
      })
    },
  ),
)

test('what no device can do is refused before anything is sent, and what it refuses is thrown', async () => {
  await using held = await device()
  const { mobile, arrived } = held
  arrived()
  const points = Array.from({ length: 22 }, (): [number, number] => [1, 1])
  const wrong = [
    mobile.tap(Number.NaN, 1),
    mobile.tap('1; reboot' as never, 1),
    mobile.swipe(1, 2, 3, 4, { durationMs: -1 }),
    mobile.doubleTap(1, 2, { delayMs: 1.5 }),
    mobile.scrollUp(1, 2, { distance: Number.POSITIVE_INFINITY }),
    mobile.key('3 && reboot' as never),
    mobile.gesture(),
    mobile.gesture(...points),
    mobile.gesture([1, 2], [3] as never),
    mobile.gesture([1, 2], [3, 4], { steps: 2.5 }),
    mobile.pinchIn(1, 2, { spread: Number.NaN }),
  ]
  const codes = await Promise.all(wrong.map((each) => each.catch((error: { code: string }) => error.code)))
  expect(codes).toEqual(wrong.map(() => 'invalid_argument'))
  expect(arrived()).toEqual([])
  phone.device.set('refuse.input', 'Error: Injecting to another application')
  const text = '"input tap 1 2" ended with 255 on the device: Error: Injecting to another application'
  await expect(mobile.tap(1, 2)).rejects.toMatchObject({ code: 'command_failed', exitCode: 255, message: text })
  phone.device.unset('refuse.input')
})

test('a computer at an address that is no Android device is not touched', async () => {
  sandboxHome()
  await using desk = await startComputer(['--port', '0'])
  await using sandbox = await Sandbox.connect('desk', { httpUrl: desk.url })
  const refused = sandbox.mobile.tap(1, 2).catch((error: { code: string; message: string }) => error)
  expect(await refused).toMatchObject({ code: 'unsupported', message: expect.stringContaining('"desk" is no Android') })
})

test(
  'a tunnel leads to a port of the device, and by a name to an abstract socket',
  proving(['sandbox.tunnel.target'], async () => {
    sandboxHome()
    await using sandbox = await Sandbox.connect('phone', { httpUrl: phone.computer.url })
    // Answers each connection with what it listens at.
    const server = `import socket, sys, threading
def serve(family, address):
    s = socket.socket(family); s.bind(address); s.listen()
    while True:
        c, _ = s.accept(); c.sendall(repr(address).encode()); c.close()
for each in [(socket.AF_INET, ("127.0.0.1", 7003)), (socket.AF_UNIX, "\\0chrome_devtools_remote")]:
    threading.Thread(target=serve, args=each).start()`
    await sandbox.files.write('/data/local/tmp/answer.py', server)
    await sandbox.shell.run('python3 answer.py >/dev/null 2>&1 & echo', { cwd: '/data/local/tmp' })
    await using tunnels = await sandbox.tunnel.forward(7_003, 'chrome_devtools_remote')
    const said = async (target: number | string) => {
      const { host, port } = tunnels.get(target) ?? { host: '', port: 0 }
      const come = Promise.withResolvers<string>()
      let text = ''
      await Bun.connect({
        hostname: host,
        port,
        socket: {
          data(_, bytes) {
            text += bytes.toString()
          },
          close: () => come.resolve(text),
          error: (_, error) => come.reject(error),
        },
      })
      return come.promise
    }
    await until('both servers', async () => (await said('chrome_devtools_remote')) !== '' && (await said(7_003)) !== '')
    expect(await said(7_003)).toBe("('127.0.0.1', 7003)")
    expect(await said('chrome_devtools_remote')).toBe("'\\x00chrome_devtools_remote'")
    const codeOf = (opened: Promise<unknown>) => opened.then(String, (error: { code: string }) => error.code)
    expect(await codeOf(sandbox.tunnel.forward('nothing', { wait: true, timeoutMs: 300 }))).toBe('not_ready')
    expect(await codeOf(sandbox.tunnel.forward('x'.repeat(108)))).toBe('invalid_argument')
  }),
)
