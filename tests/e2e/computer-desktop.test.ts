import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { python } from '../support/applications.ts'
import { type Fields, startComputer, type TestComputer } from '../support/computer.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { colorAt, type Pixels, pixelsOf } from '../support/witness/index.ts'

let computer: TestComputer

beforeAll(async () => {
  computer = await startComputer()
})

afterAll(() => computer[Symbol.asyncDispose]())

/** A picture of the screen. */
const picture = async (params: Fields = {}) =>
  Buffer.from(String((await computer.ask('screenshot', params)).image_data), 'base64')

/** The pixel at the top left of a picture. */
const corner = async (shot: Buffer) => colorAt(await pixelsOf(shot), 0, 0)

const title = async () => (await computer.ask('get_active_window_title')).result
const closed = (name: string) => until(`"${name}" to close`, async () => (await title()) !== name)

/** Bytes that a terminal gets, with what it is told to report; the terminal closes when that is disposed of. */
const terminal = async (name: string, report = '') => {
  const file = join(computer.home, name)
  const script = `printf '${report}'; stty raw -echo; touch ${file}; exec cat > ${file}`
  const args = ['-T', name, '-geometry', '100x30+40+60', '-e', 'sh', '-c', script]
  const { pid } = await computer.ask('launch', { app: 'xterm', args })
  await until(`"${name}" to be active`, async () => (await title()) === name)
  await until('its program', () => Bun.file(file).exists())
  return {
    pid: Number(pid),
    bytes: () => readFile(file, 'latin1'),
    text: () => readFile(file, 'utf8'),
    async [Symbol.asyncDispose]() {
      process.kill(Number(pid))
      await closed(name)
    },
  }
}

describe('the keyboard', () => {
  test.each(['us', 'de'])('types any text exactly on the layout %s', async (layout) => {
    await computer.shell(`setxkbmap ${layout}`)
    await using typed = await terminal(`typed-${layout}`)
    const short = 'Grüße 世界 😀'
    const long = Array.from({ length: 2_000 }, (_, index) => String.fromCharCode(33 + ((index * 37) % 94))).join('')
    for (const text of [short, long]) {
      await computer.ask('type_text', { text })
      await until('the text', async () => (await typed.text()).endsWith(text))
    }
    expect(await typed.text()).toBe(short + long)
    await computer.shell('setxkbmap us')
  })

  test('presses, holds and combines keys, by whatever name', async () => {
    await using typed = await terminal('keys')
    for (const key of ['a', 'Return', 'enter', 'BackSpace', 'tab', 'Page_Down', 'pagedown', 'ArrowUp', 'esc']) {
      await computer.ask('press_key', { key })
    }
    await computer.ask('hotkey', { keys: ['ctrl', 'c'] })
    await computer.ask('hotkey', { keys: ['Control_L', 'd'] })
    // As clients that know a Mac paste.
    await computer.ask('hotkey', { keys: ['command', 'x'] })
    await computer.ask('key_down', { key: 'shift' })
    await computer.ask('press_key', { key: 'b' })
    await computer.ask('key_up', { key: 'shift' })
    await computer.ask('press_key', { key: 'b' })
    const expected = 'a\r\r\x7f\t\x1b[6~\x1b[6~\x1b[A\x1b\x03\x04\x18Bb'
    await until('all', async () => (await typed.bytes()).length >= expected.length).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await typed.bytes())}`)
    })
    expect((await typed.bytes()).replace('\b', '\x7f')).toBe(expected)
    expect(await computer.send('press_key', { key: 'nokey' })).toMatchObject({ success: false, code: 'unknown_key' })
  })
})

test('programs of a server without a locale take any character', async () => {
  await using bare = await startComputer(undefined, { LANG: '', LC_ALL: '', LC_CTYPE: '' })
  expect(await bare.shell('locale charmap')).toBe('UTF-8\n')
})

describe('the pointer', () => {
  /** Presses, motions and releases as the terminal tells them (xterm's SGR mode): `[button, x, y, M or m]`. */
  const events = (bytes: string) =>
    [...bytes.matchAll(/\[<(\d+);(\d+);(\d+)([Mm])/g)].map(([, button, x, y, end]) => [
      Number(button),
      Number(x),
      Number(y),
      end === 'M' ? 'down' : 'up',
    ])

  test('clicks, drags and scrolls as often and as far as it says', async () => {
    await using typed = await terminal('mouse', '\\033[?1002h\\033[?1006h')
    const { x, y } = (await computer.ask('get_window_position')) as { x: number; y: number }
    const at = { x: x + 100, y: y + 100 }
    let seen = 0
    const next = async (count: number) => {
      await until('the events', async () => events(await typed.bytes()).length >= seen + count)
      const fresh = events(await typed.bytes()).slice(seen)
      seen += fresh.length
      return fresh
    }
    /** The events of a drag, to its end. */
    const released = async () => {
      await until(
        'the release',
        async () =>
          events(await typed.bytes())
            .slice(seen)
            .at(-1)?.[3] === 'up',
      )
      return next(2)
    }
    const kinds = async (count: number) => (await next(count)).map(([button, , , end]) => `${button} ${end}`)

    await computer.ask('left_click', at)
    expect(await kinds(2)).toEqual(['0 down', '0 up'])
    await computer.ask('right_click', at)
    expect(await kinds(2)).toEqual(['2 down', '2 up'])
    // Where the pointer is.
    await computer.ask('middle_click', { x: null, y: null })
    expect(await kinds(2)).toEqual(['1 down', '1 up'])
    await computer.ask('double_click', at)
    expect(await kinds(4)).toEqual(['0 down', '0 up', '0 down', '0 up'])
    await computer.ask('mouse_down', { ...at, button: 'left' })
    expect(await kinds(1)).toEqual(['0 down'])
    await computer.ask('mouse_up', {})
    expect(await kinds(1)).toEqual(['0 up'])

    const path = [
      [at.x, at.y],
      [at.x + 200, at.y],
      [at.x + 200, at.y + 150],
    ]
    await computer.ask('drag', { path, duration: 0.2 })
    const drag = await released()
    const [press, release] = [drag[0], drag.at(-1)]
    expect([press?.[0], press?.[3], release?.[0], release?.[3]]).toEqual([0, 'down', 0, 'up'])
    expect(drag.slice(1, -1).every(([button, , , end]) => button === 32 && end === 'down')).toBe(true)
    expect(drag.length).toBeGreaterThan(10)
    const columns = drag.map(([, column]) => Number(column))
    expect(columns).toEqual(columns.toSorted((one, other) => one - other))
    await computer.ask('drag_to', at)
    const back = await released()
    expect([back[0]?.slice(0, 1), back.at(-1)?.slice(0, 1), back.at(-1)?.[3]]).toEqual([[0], [0], 'up'])
    expect(back.filter(([button]) => button === 0)).toHaveLength(2)

    for (const [command, params, button, count] of [
      ['scroll_down', { clicks: 3 }, 65, 3],
      ['scroll_up', { clicks: 5 }, 64, 5],
      ['scroll', { x: 0, y: 2 }, 64, 2],
      ['scroll', { x: 0, y: -4 }, 65, 4],
      ['scroll', { ...at, scroll_y: 3 }, 64, 3],
      ['scroll', { ...at, scroll_x: 0, scroll_y: -7 }, 65, 7],
      ['scroll_direction', { direction: 'down', clicks: 2 }, 65, 2],
    ] as const) {
      await computer.ask(command, params)
      expect([command, params, await kinds(count)]).toEqual([
        command,
        params,
        Array.from({ length: count }, () => `${button} down`),
      ])
    }
    // This terminal tells of the release of buttons 6 and 7 too.
    for (const [scroll_x, button] of [
      [2, 67],
      [-3, 66],
    ] as const) {
      await computer.ask('scroll', { ...at, scroll_x })
      const count = Math.abs(scroll_x)
      const turned = await kinds(2 * count)
      expect(turned.filter((kind) => kind === `${button} down`)).toHaveLength(count)
    }
    await computer.ask('move_cursor', { x: 300.4, y: 200.6 })
    expect(await computer.ask('get_cursor_position')).toMatchObject({ position: { x: 300, y: 201 } })
    expect(await computer.send('left_click', { x: 5_000, y: 5 })).toMatchObject({ code: 'invalid_argument' })
    expect(await computer.send('drag', { path: [[1, 1]] })).toMatchObject({ code: 'invalid_argument' })
  })
})

describe('the clipboard', () => {
  test('is what other programs have and get', async () => {
    await computer.ask('set_clipboard', { text: 'Grüße 世界\n' })
    expect(await computer.shell('xclip -selection clipboard -o')).toBe('Grüße 世界\n')
    await computer.shell('printf other | xclip -selection clipboard -i')
    // It owns the clipboard only after its command has ended.
    const read = () => computer.ask('copy_to_clipboard')
    await until('the other text', async () => (await read()).content === 'other')
    expect(await read()).toMatchObject({ result: 'other' })
  })
})

describe('windows', () => {
  test('are found, measured, moved and closed', async () => {
    const typed = await terminal('window')
    const { window_id } = (await computer.ask('get_current_window_id')) as { window_id: number }
    const id = `0x${window_id.toString(16)}`
    expect(await computer.shell('xprop -root _NET_ACTIVE_WINDOW')).toContain(id)
    expect((await computer.ask('get_application_windows', { app: 'xterm' })).windows).toEqual([window_id])
    expect(await computer.ask('get_window_name', { window_id: String(window_id) })).toMatchObject({ name: 'window' })
    const geometry = async () => {
      const said = await computer.shell(`xwininfo -id ${id}`)
      const number = (name: string) => Number(new RegExp(`${name}:\\s+(-?\\d+)`).exec(said)?.[1])
      const [x, y] = [number('Absolute upper-left X'), number('Absolute upper-left Y')]
      return { x, y, width: number('Width'), height: number('Height') }
    }
    const told = async () => {
      const { x, y } = await computer.ask('get_window_position', { window_id })
      const { width, height } = await computer.ask('get_window_size', { window_id })
      return { x, y, width, height }
    }
    expect(await told()).toEqual(await geometry())
    await computer.ask('set_window_position', { window_id, x: 200, y: 150 })
    await computer.ask('set_window_size', { window_id, width: 606, height: 394 })
    expect(await told()).toEqual(await geometry())
    expect(await told()).toMatchObject({ x: 200, y: 150 })
    expect(await computer.ask('get_active_window_bounds')).toMatchObject({ bounds: await geometry() })

    const state = () => computer.shell(`xprop -id ${id} _NET_WM_STATE WM_STATE`)
    await computer.ask('maximize_window', { window_id })
    expect(await state()).toContain('_NET_WM_STATE_MAXIMIZED_VERT')
    await computer.ask('minimize_window', { window_id })
    expect(await state()).toContain('Iconic')
    await computer.ask('activate_window', { window_id })
    expect(await title()).toBe('window')
    await computer.ask('close_window', { window_id })
    await closed('window')
    expect(await computer.send('get_window_name', { window_id })).toMatchObject({ code: 'window_not_found' })
    // A program ends after its window.
    await until('its process to end', () => !existsSync(`/proc/${typed.pid}`))
  })
})

describe('programs', () => {
  test(
    'launch starts one that takes the focus, and says where there is none',
    proving(['sandbox.server.launch'], async () => {
      {
        await using _ = await terminal('launched')
        expect(await title()).toBe('launched')
      }
      expect(await computer.send('launch', { app: 'no-such-program' })).toMatchObject({
        success: false,
        code: 'app_not_found',
      })
    }),
  )

  test('open finds the application for a file, and says where there is no file', async () => {
    const taker = join(computer.home, 'taker.sh')
    await writeFile(taker, '#!/bin/sh\necho "$1" > ~/opened\n', { mode: 0o755 })
    const applications = join(computer.home, '.local/share/applications')
    await mkdir(applications, { recursive: true })
    await mkdir(join(computer.home, '.config'), { recursive: true })
    const entry = ['[Desktop Entry]', 'Type=Application', 'Name=Taker', `Exec=${taker} %f`, 'MimeType=text/plain;', '']
    await writeFile(join(applications, 'taker.desktop'), entry.join('\n'))
    const defaults = ['[Default Applications]', 'text/plain=taker.desktop', '']
    await writeFile(join(computer.home, '.config/mimeapps.list'), defaults.join('\n'))
    await writeFile(join(computer.home, 'note.txt'), 'hello\n')
    expect(await computer.ask('open', { target: 'note.txt' })).toMatchObject({ pid: expect.any(Number) })
    await until('it to be opened', async () =>
      (await computer.shell('cat ~/opened 2>/dev/null; true')).includes('note.txt'),
    )
    expect(await computer.send('open', { target: 'nothing.txt' })).toMatchObject({ code: 'file_not_found' })
  })
})

describe('the accessibility tree', () => {
  test('is that of the applications, and finds elements', async () => {
    const journal = join(computer.home, 'gtk3.jsonl')
    const fixture = join(import.meta.dir, '../support/fixtures/gtk3.py')
    const program = [python, fixture, journal, 'Controls', '500x400+100+80', 'controls'].join(' ')
    const started = await computer.ask('run_command', { command: `${program} > /dev/null 2>&1 & echo $!` })
    const pid = Number(started.stdout)
    type Element = Fields & { role: string; title: string; children: Element[]; bounds: Record<string, number> }
    const all = (element: Element): Element[] => [element, ...element.children.flatMap(all)]
    const tree = async () => all((await computer.ask('get_accessibility_tree')).tree as Element)
    await until('the button', async () => (await tree()).some((element) => element.title === 'Press me'))
    const { element, count } = await computer.ask('find_element', { role: 'button', title: 'press me' })
    expect(count).toBe(1)
    const { bounds } = element as Element
    await computer.ask('left_click', {
      x: Number(bounds.x) + Number(bounds.width) / 2,
      y: Number(bounds.y) + Number(bounds.height) / 2,
    })
    await until('the press', async () =>
      /"type": "(?:clicked|button-release|button_release)"/.test(await readFile(journal, 'utf8')),
    )
    expect(await computer.send('find_element', { title: 'nothing like it' })).toMatchObject({
      code: 'element_not_found',
    })
    expect(await computer.send('find_element', {})).toMatchObject({ code: 'missing_argument' })
    const window = (await tree()).find(({ role, title }) => role === 'window' && title === 'Controls')
    expect(all(window as Element).length).toBeGreaterThan(10)
    process.kill(pid)
    await closed('Controls')
  })
})

describe('the tree of a web page', () => {
  test('says where headings and texts are, which nobody operates', async () => {
    const page =
      '<!doctype html><title>Places</title><h1 style="background:red;margin:30px">A heading</h1><p>Some words'
    await writeFile(join(computer.home, 'page.html'), page)
    const flags = [
      '--no-sandbox',
      '--no-first-run',
      '--password-store=basic',
      `--user-data-dir=${computer.home}/profile`,
    ]
    const args = [...flags, `file://${computer.home}/page.html`]
    const { pid } = await computer.ask('launch', { app: 'chromium', args })
    type Bounds = { x: number; y: number; width: number; height: number }
    const find = async (wanted: Fields) => {
      const { element } = await computer.send('find_element', wanted)
      return (element as { bounds: Bounds } | undefined)?.bounds
    }
    const redIn =
      (shown: Pixels) =>
      ({ x, y }: { x: number; y: number }) => {
        const [red = 0, green = 255, blue = 255] = shown.rgb.subarray((y * shown.width + x) * 3)
        return red > 200 && green < 60 && blue < 60
      }
    const { x, y, width, height, isRed } = await until('the heading where it is drawn', async () => {
      const found = await find({ role: 'heading', title: 'A heading' })
      if (found === undefined || found.width === 0) return
      const isRed = redIn(await pixelsOf(await picture()))
      return isRed(found) && { ...found, isRed }
    })
    expect(isRed({ x: x + width - 1, y: y + height - 1 })).toBe(true)
    for (const outside of [
      { x: x - 1, y },
      { x, y: y - 1 },
      { x: x + width, y },
      { x, y: y + height },
    ]) {
      expect([outside, isRed(outside)]).toEqual([outside, false])
    }
    const words = await until('the words', () => find({ title: 'Some words' }))
    expect(words.y).toBeGreaterThanOrEqual(y + height)
    expect([words.width > 20, words.height > 8]).toEqual([true, true])
    // Asked to close, it removes what it wrote beside its profile.
    const { window_id } = await computer.ask('get_current_window_id')
    await computer.ask('close_window', { window_id })
    await until('the browser to end', () => !existsSync(`/proc/${pid}`))
  })
})

describe('the screen', () => {
  /** Codec, width and height as ffprobe reads them. */
  const probe = async (picture: Buffer) => {
    const args = ['-v', 'error', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0', '-']
    return Bun.spawn(['ffprobe', ...args], { stdin: picture, stdout: 'pipe' }).stdout.text()
  }
  test(
    'shows a wallpaper, in pictures of both formats',
    proving(['sandbox.server.set-wallpaper'], async () => {
      // One orange pixel.
      const orange = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP43yAAAAQRAZDHGw1eAAAAAElFTkSuQmCC'
      await computer.ask('write_bytes', { path: 'orange.png', content_b64: orange })
      const wanted = await corner(Buffer.from(orange, 'base64'))
      await computer.ask('set_wallpaper', { path: '~/orange.png', target: 'home' })
      expect(await corner(await picture())).toBe(wanted)
      expect((await probe(await picture())).trim()).toBe('png,1280,800')
      for (const format of ['jpeg', 'jpg']) {
        expect((await probe(await picture({ format, quality: 60 }))).trim()).toBe('mjpeg,1280,800')
      }
      const sizes = await Promise.all(
        [95, 10].map(async (quality) => (await picture({ format: 'jpeg', quality })).length),
      )
      expect(Number(sizes[0])).toBeGreaterThan(Number(sizes[1]))
      expect(await computer.send('set_wallpaper', { path: 'nothing.png' })).toMatchObject({ code: 'file_not_found' })
      expect(await computer.send('screenshot', { quality: 96 })).toMatchObject({ code: 'invalid_argument' })
      expect(await computer.ask('to_screen_coordinates', { x: 3, y: 4 })).toMatchObject({ coordinates: [3, 4] })
    }),
  )

  test(
    'is a fraction as long in JPEG as in PNG where it shows a photograph',
    proving(['sandbox.limits.jpeg-smaller'], async () => {
      // Clouds with the fine grain that a camera adds.
      const clouds = ['-size', '320x200', '-seed', '7', 'plasma:blue-white', '-blur', '0x1', '-resize', '400%']
      const grain = ['-attenuate', '0.05', '+noise', 'Gaussian', '-depth', '8']
      const drawn = Bun.spawnSync(['convert', ...clouds, ...grain, '-quality', '10', 'png:-'])
      expect(drawn.exitCode).toBe(0)
      await computer.ask('write_bytes', { path: 'clouds.png', content_b64: drawn.stdout.toString('base64') })
      await computer.ask('set_wallpaper', { path: '~/clouds.png', target: 'home' })
      const [png, jpeg] = [await picture(), await picture({ format: 'jpeg' })]
      expect(png.length / jpeg.length).toBeGreaterThan(5)
    }),
  )
})
