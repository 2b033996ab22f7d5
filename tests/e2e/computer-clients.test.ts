import { afterEach, describe, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { startWitness, type Witness } from '../support/client-witness.ts'
import { startComputer } from '../support/computer.ts'
import { npmComputer, scriptWith } from '../support/npm-with.ts'
import { lastOf, seenAt } from '../support/python-clients.ts'
import { until } from '../support/until.ts'

const minutes = 60_000

test(
  'cua-computer 0.4 looks, acts, and moves files and commands',
  async () => {
    // The one port that this client knows.
    await using _computer = await startComputer(['--desktop', '--port', '8000'])
    expect(await seenAt(8000, 'computer', 'computer_commands.py')).toEqual({
      size: { width: 1280, height: 800 },
      picture: [...Buffer.from('PNG')],
      cursor: { x: 200, y: 150 },
      clipboard: 'Grüße',
      ran: ['out\n', 'err\n', 3],
      large: [6 * 2 ** 20, true],
      text: 'Grüße\nmore',
      list: ['large', 'text'],
      exists: [true, true],
      gone: false,
      tree: [true, 'desktop'],
      socket: { width: 1280, height: 800 },
    })
  },
  5 * minutes,
)

test(
  'cua-sandbox 0.8 looks, acts, and moves files, commands and terminals',
  async () => {
    await using computer = await startComputer()
    expect(await seenAt(Number(new URL(computer.url).port), 'sandbox', 'sandbox_commands.py')).toEqual({
      size: [1280, 800],
      pictures: [[...Buffer.from('PNG')], [0xff, 0xd8]],
      environment: 'linux',
      clipboard: 'Grüße',
      ran: ['out\n', 'err\n', 3, false],
      title: '',
      terminal: [100, 30],
      bytes: true,
      text: 'Grüße\n',
      'size of it': 8,
      list: ['bytes', 'text'],
      gone: false,
    })
  },
  5 * minutes,
)

describe('each act of a client arrives, as others see it', () => {
  const size = { width: 1280, height: 800 }
  /** The size in the header of a PNG of that screen. */
  const header = [0, 0, 1280 >> 8, 1280 & 0xff, 0, 0, 800 >> 8, 800 & 0xff]
  const click = (button: number) => [`down ${button}`, `up ${button}`]
  const drag = ['down 0', 'move', 'up 0']
  const clicks = [...click(0), ...click(2), ...click(0), ...click(0), ...click(0)]
  const wheels = ['wheel 65 2 times', 'wheel 64 3 times']
  // Text, Return, Control-A, a capital letter.
  const typed = 'Grüße 世界\r\u0001B'
  const large = Buffer.alloc(
    6 * 2 ** 20,
    Uint8Array.from({ length: 256 }, (_, index) => index),
  )
  let witness: Witness

  afterEach(() => witness[Symbol.asyncDispose]())

  /** What was done to files and commands, apart from what the client says of it. */
  const expectFiles = async () => {
    expect(await witness.text('ran')).toBe('ran\n')
    expect(large.equals(await readFile(`${witness.folder}/made/bytes`))).toBe(true)
    expect(await witness.text('made/text')).toBe('Grüße\nmore')
    expect([await witness.has('short'), await witness.has('brief')]).toEqual([false, false])
  }

  test(
    'of cua-computer 0.5',
    async () => {
      witness = await startWitness()
      const { port, folder, window, pid, computer } = witness
      const seen = await seenAt(port, 'newestComputer', 'computer_witnessed.py', {}, [folder])
      expect(seen).toEqual({
        size,
        picture: header,
        desktop: 'openbox',
        clipboard: 'Grüße aus Python',
        window,
        windows: [window],
        name: 'witness',
        placed: [120, 90, 484, 264],
        bounds: [120, 90, 484, 264],
        launched: Number(await witness.text('launched')),
        ran: ['out\n', 'err\n', 3],
        text: 'Grüße\nmore',
        bytes: true,
        'file size': large.length,
        list: ['bytes', 'text'],
        exists: [true, false],
        tree: 'desktop',
        socket: size,
        cursor: { x: 211, y: 161 },
      })
      expect(await witness.acts(typed)).toEqual([...clicks, ...drag, ...drag, ...wheels, 'wheel 65 1 times', typed])
      expect(await witness.pointer()).toBe('x:211 y:161')
      expect(await witness.clipboard()).toBe('Grüße aus Python')
      await expectFiles()
      // Its window was closed.
      await until('the terminal to end', async () => (await computer.shell(`kill -0 ${pid} 2>&1; true`)) !== '')
      const picture = Buffer.from(String((await computer.ask('screenshot')).image_data), 'base64')
      const pixel = ['-v', 'error', '-i', '-', '-vf', 'crop=1:1:0:0', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']
      const corner = await Bun.spawn(['ffmpeg', ...pixel], { stdin: picture, stdout: 'pipe' }).stdout.bytes()
      expect([...corner]).toEqual([255, 128, 16])
    },
    5 * minutes,
  )

  for (const way of ['http', 'ws']) {
    test(
      `of cua-sandbox 0.1 over ${way}`,
      async () => {
        witness = await startWitness()
        const { folder, port, computer } = witness
        const seen = await seenAt(port, 'firstSandbox', 'sandbox_witnessed.py', {}, [folder, way])
        expect(seen).toEqual({
          size: [1280, 800],
          pictures: [header, [0xff, 0xd8]],
          environment: 'linux',
          title: 'witness',
          clipboard: `Grüße über ${way}`,
          terminal: [100, 30],
          ...(way === 'http' && { ran: ['out\n', 'err\n', 3, false] }),
          pid: expect.any(Number),
        })
        expect(await witness.acts(typed)).toEqual([...clicks, ...drag, ...wheels, typed])
        expect(await witness.pointer()).toBe('x:211 y:161')
        expect(await witness.clipboard()).toBe(`Grüße über ${way}`)
        if (way === 'http') {
          expect(await witness.text('ran')).toBe('ran\n')
          expect(await witness.text('typed-in')).toBe('20 90\n')
        }
        const { pid } = seen as { pid: number }
        expect(await computer.shell(`kill -0 ${pid} 2>&1; true`)).toContain('No such process')
      },
      5 * minutes,
    )
  }

  test(
    'of @trycua/computer from npm',
    async () => {
      witness = await startWitness()
      const { folder, port } = witness
      const script = await scriptWith(npmComputer, 'npm-computer.js')
      expect(await lastOf([process.execPath, script, String(port), folder])).toEqual({
        size,
        picture: header,
        clipboard: 'Grüße aus npm',
        ran: ['out\n', 'err\n'],
        bytes: true,
        text: 'Grüße\nmore',
        'file size': large.length,
        list: ['bytes', 'text'],
        exists: [true, false],
        tree: 'desktop',
        coordinates: [
          [3, 4],
          [5, 6],
        ],
        cursor: { x: 211, y: 161 },
      })
      expect(await witness.acts(typed)).toEqual([...clicks, ...drag, ...drag, ...wheels, 'wheel 65 1 times', typed])
      expect(await witness.pointer()).toBe('x:211 y:161')
      expect(await witness.clipboard()).toBe('Grüße aus npm')
      await expectFiles()
    },
    5 * minutes,
  )
})
