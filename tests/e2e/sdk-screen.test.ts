import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { proving } from '../support/proves.ts'
import type { Driven } from '../support/sdk/driven.ts'
import { sdkSetup, ways } from '../support/sdk/setup.ts'
import { until } from '../support/until.ts'

const setup = sdkSetup()

const seen = async (...command: [string, ...string[]]) => (await setup().desktop.run(command)).stdout.trim()
const pointer = async () => {
  const [, x, y] = /X=(\d+)\nY=(\d+)/.exec(await seen('xdotool', 'getmouselocation', '--shell')) ?? []
  return { x: Number(x), y: Number(y) }
}

/** A terminal that stores the bytes it is given, started by the SDK, which waits for its window. */
const xterm = async (program: Driven, name: string, report = '') => {
  const file = setup().desktop.path(name)
  // It answers the last sequence when it has heeded those before it.
  const go = `until [ -e ${file}.go ]; do sleep 0.02; done`
  const script = `${go}; stty raw -echo; printf '${report}\\033[6n'; exec cat > ${file}`
  const args = ['-T', name, '-geometry', '100x30+40+60', '-e', 'sh', '-c', script]
  const { pid } = await program.run((computer, given) => computer.launch('xterm', { args: given }), args)
  // `launch` has waited for the window, so that it needs no waiting for here.
  const [id] = (await seen('xdotool', 'search', '--name', `^${name}$`)).split('\n')
  expect(Number(id)).toBeGreaterThan(0)
  await until('the focus', async () => (await seen('xdotool', 'getwindowfocus', 'getwindowname')) === name)
  // An xterm whose keyboard is remapped while it starts may stay one cell large.
  await until('its size', async () => {
    if (/Width: [4-9]\d\d\n/.test(await seen('xwininfo', '-id', `${id}`))) return true
    await seen('xdotool', 'windowsize', `${id}`, '620', '400')
    return false
  })
  await Bun.write(`${file}.go`, '')
  const isReady = () => readFileSync(file, 'latin1').includes('R')
  await until('its program', async () => (await Bun.file(file).exists()) && isReady())
  const before = readFileSync(file, 'utf8').length
  return {
    id: Number(id),
    pid,
    text: () => readFileSync(file, 'utf8').slice(before),
    async [Symbol.asyncDispose]() {
      process.kill(pid)
      await until('it to close', async () => (await seen('xdotool', 'search', '--name', `^${name}$`)) === '')
    },
  }
}

describe.each(ways)('%s, %s', (runtime, kind) => {
  const driven = () => setup().program(runtime, kind)

  test(
    'pictures are as large as the screen, in the format that is asked for',
    proving(
      [
        'sandbox.screenshot',
        'sandbox.screenshot-base64',
        'sandbox.screen.screenshot',
        'sandbox.screen.screenshot-base64',
        'sandbox.screen.size',
      ],
      async () => {
        const program = await driven()
        const path = setup().desktop.path('shot.jpg')
        const given = await program.run(async (computer, file) => {
          const png = await computer.screenshot({ text: 'of no effect' })
          const jpeg = await computer.screen.screenshot({ format: 'jpeg', quality: 50, path: file })
          const text = await computer.screen.screenshotBase64({ format: 'jpeg' })
          const other = await computer.screenshotBase64()
          const starts = (bytes: Uint8Array) => [...bytes.slice(0, 3)]
          return {
            size: await computer.screen.size(),
            dimensions: await computer.getDimensions(),
            png: starts(png),
            jpeg: starts(jpeg),
            texts: [text.slice(0, 4), other.slice(0, 4)],
          }
        }, path)
        const [, width, height] = /dimensions:\s+(\d+)x(\d+)/.exec(await seen('xdpyinfo')) ?? []
        const size = { width: Number(width), height: Number(height) }
        expect(given).toEqual({
          size,
          dimensions: size,
          png: [0x89, 0x50, 0x4e],
          jpeg: [0xff, 0xd8, 0xff],
          texts: ['/9j/', 'iVBO'],
        })
        expect(await seen('identify', '-format', '%m %w %h', path)).toBe(`JPEG ${width} ${height}`)
        const met = await program.fails((computer) => computer.screenshot({ format: 'jpeg', quality: 96 }))
        expect(met).toMatchObject({ code: 'invalid_argument', isOurs: true })
      },
    ),
  )

  test(
    'the environment is what an agent is told',
    proving(['sandbox.get-environment', 'sandbox.get-dimensions', 'sandbox.transport'], async () => {
      const program = await driven()
      expect(await program.run((computer) => computer.getEnvironment(), undefined)).toBe('linux')
      const said = await program.run(async ({ transport }) => {
        await transport.connect()
        return [await transport.send('version'), await transport.getScreenSize(), await transport.getEnvironment()]
      }, undefined)
      expect(said).toMatchObject([{ protocol: 1 }, { width: expect.any(Number) }, 'linux'])
      expect(await program.fails(({ transport }) => transport.send('no_such_thing'))).toMatchObject({
        code: 'server_incompatible',
      })
    }),
  )

  test(
    'text and keys arrive as they are',
    proving(['sandbox.keyboard.type', 'sandbox.keyboard.keypress', 'sandbox.keyboard.down-up'], async () => {
      const program = await driven()
      await using typed = await xterm(program, `typed-${runtime}-${kind}`)
      await program.run(async ({ keyboard }) => {
        await keyboard.type('Grüße, 世界 😀')
        await keyboard.keypress('Return')
        await keyboard.keypress(['ctrl', 'c'])
        await keyboard.keyDown('shift')
        await keyboard.keypress('b')
        await keyboard.keyUp('shift')
        await keyboard.keypress(['b'])
      }, undefined)
      const expected = 'Grüße, 世界 😀\r\x03Bb'
      await until('the text', () => typed.text().length >= expected.length)
      expect(typed.text()).toBe(expected)
      expect(await program.fails(({ keyboard }) => keyboard.keypress('nokey'))).toMatchObject({
        name: 'InvalidArgumentError',
        code: 'unknown_key',
      })
    }),
  )

  test(
    'the pointer moves, clicks, turns and drags',
    proving(
      [
        'sandbox.mouse.click',
        'sandbox.mouse.other-clicks',
        'sandbox.mouse.scroll',
        'sandbox.mouse.down-up',
        'sandbox.mouse.drag',
      ],
      async () => {
        const program = await driven()
        await program.run(({ mouse }) => mouse.move(5, 7), undefined)
        expect(await pointer()).toEqual({ x: 5, y: 7 })
        // The terminal reports presses and releases (SGR mode of xterm): button, column, line, M or m.
        await using told = await xterm(program, `mouse-${runtime}-${kind}`, '\\033[?1000h\\033[?1006h')
        await program.run(async ({ mouse }) => {
          await mouse.click(200, 200)
          await mouse.click(200, 200, 'middle')
          await mouse.click(200, 200, { button: 'left' })
          await mouse.rightClick(200, 200)
          await mouse.doubleClick(240, 200)
          await mouse.scroll(200, 200)
          await mouse.scroll(200, 200, 0, -1)
          await mouse.scroll(200, 200, { scrollX: 1, scrollY: 0 })
          await mouse.mouseDown(200, 200, 'right')
          await mouse.mouseUp(200, 200, 'right')
          await mouse.drag(200, 200, 300, 220, { durationMs: 50 })
        }, undefined)
        const clicks = () =>
          // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal reports with.
          [...told.text().matchAll(/\x1b\[<(\d+);\d+;\d+([Mm])/g)].map(([, button, way]) => `${button}${way}`).join(' ')
        const wheel = '64M 64M 64M 65M 66M 66m'
        const expected = `0M 0m 1M 1m 0M 0m 2M 2m 0M 0m 0M 0m ${wheel} 2M 2m 0M 0m`
        await until('all', () => clicks().length >= expected.length, 3000).catch(() => undefined)
        expect(clicks()).toBe(expected)
        expect(await program.run(({ mouse }) => mouse.position(), undefined)).toEqual({ x: 300, y: 220 })
        expect(await pointer()).toEqual({ x: 300, y: 220 })
      },
    ),
  )

  test(
    'the clipboard is everybody’s',
    proving(['sandbox.clipboard.get', 'sandbox.clipboard.set'], async () => {
      const program = await driven()
      await program.run(({ clipboard }) => clipboard.set('Zwischen\nablage 😀'), undefined)
      expect((await setup().desktop.run(['xclip', '-selection', 'clipboard', '-o'])).stdout).toBe('Zwischen\nablage 😀')
      await setup().desktop.run(['sh', '-c', 'printf "from xclip" | xclip -selection clipboard -i >/dev/null 2>&1'])
      // It takes the clipboard when it has gone to the background.
      await until('what it has copied', async () => {
        return (await program.run(({ clipboard }) => clipboard.get(), undefined)) === 'from xclip'
      })
    }),
  )

  test(
    'windows are listed, placed, put away and closed',
    proving(['sandbox.window.get-active-title'], async () => {
      const program = await driven()
      const name = `window-${runtime}-${kind}`
      const { pid } = await program.run(
        (computer, title) => computer.launch('xterm', { args: ['-T', title, '-e', 'sleep', '1000'] }),
        name,
      )
      await until(
        'the focus',
        async () => (await program.run(({ window }) => window.getActiveTitle(), undefined)) === name,
      )
      const list = await program.run(({ window }) => window.list({ app: 'XTERM' }), undefined)
      const found = list.find(({ title }) => title === name)
      const id = found?.id ?? 0
      expect(found).toMatchObject({ title: name, active: true })
      expect(String(id)).toBe(await seen('xdotool', 'search', '--name', `^${name}$`))
      await program.run(({ window }, which) => window.setBounds(which, { x: 120, y: 130 }), id)
      const placed = async () => {
        const told = await seen('xwininfo', '-id', `${id}`)
        return /upper-left X: +120\n/.test(told) && /upper-left Y: +130\n/.test(told)
      }
      await until('the place', placed)
      await program.run(({ window }, which) => window.minimize(which), id)
      expect(await seen('xprop', '-id', `${id}`, 'WM_STATE')).toContain('Iconic')
      await program.run(({ window }, which) => window.activate(which), id)
      expect(await seen('xprop', '-id', `${id}`, 'WM_STATE')).toContain('Normal')
      await program.run(({ window }, which) => window.maximize(which), id)
      expect(await seen('xprop', '-id', `${id}`, '_NET_WM_STATE')).toContain('MAXIMIZED')
      await program.run(({ window }, which) => window.close(which), id)
      await until('its end', async () => (await seen('xdotool', 'search', '--name', `^${name}$`)) === '')
      await until('its process to end', () => !existsSync(`/proc/${pid}`))
      for (const code of [
        (computer: { window: { activate(id: number): Promise<void> } }) => computer.window.activate(12),
        (computer: { window: { close(id: number): Promise<void> } }) => computer.window.close(12),
      ]) {
        expect(await program.fails(code)).toMatchObject({ name: 'NotFoundError', code: 'window_not_found' })
      }
    }),
  )

  test('elements are found by role and title, waited for, and given with their centre', async () => {
    const program = await driven()
    const title = `found-${runtime}-${kind}`
    const coming = program.run(
      ({ screen }, wanted) => screen.find({ role: 'window', title: new RegExp(`^${wanted}$`) }),
      title,
    )
    const { pid } = await program.run(
      (computer, name) => computer.launch('xterm', { args: ['-T', name, '-geometry', '40x10+300+200'] }),
      title,
    )
    const found = await coming
    const bounds = await seen('xdotool', 'search', '--name', `^${title}$`, 'getwindowgeometry', '--shell')
    const [, width] = /WIDTH=(\d+)/.exec(bounds) ?? []
    expect(found).toMatchObject({ title, size: { width: Number(width) } })
    const { position, size, center } = found as NonNullable<typeof found>
    expect(center).toEqual({ x: Math.round(position.x + size.width / 2), y: Math.round(position.y + size.height / 2) })
    const tree = await program.run(({ screen }) => screen.getTree(), undefined)
    expect(tree.children.map((child) => child.title)).toContain(title)
    process.kill(pid)
    const none = await program.run(
      ({ screen }) => screen.find({ title: 'nothing is called so' }, { timeoutMs: 0 }),
      undefined,
    )
    expect(none).toBeNull()
    const late = await program.run(
      ({ screen }) => screen.find({ title: 'nothing is called so' }, { timeoutMs: 300 }),
      undefined,
    )
    expect(late).toBeNull()
  })

  test('what cannot be launched is an error, and a program without a window is told', async () => {
    const program = await driven()
    expect(await program.fails((computer) => computer.launch('no-such-program'))).toMatchObject({
      name: 'NotFoundError',
      code: 'app_not_found',
    })
    const met = await program.fails((computer) => computer.launch('sleep', { args: ['1000'], timeoutMs: 300 }))
    const pid = Number(met.data?.pid)
    expect(met).toMatchObject({ name: 'TimeoutError', code: 'not_ready' })
    process.kill(pid)
  })

  test('a file is opened with the application that is set for it', async () => {
    const program = await driven()
    // An application of this test alone, which tells what it was given.
    const applications = `${setup().desktop.home}/.local/share/applications`
    const teller = setup().desktop.path('teller')
    await Bun.write(teller, '#!/bin/sh\ntouch "$1.opened"\n')
    chmodSync(teller, 0o755)
    const entry = ['[Desktop Entry]', 'Type=Application', 'Name=Teller', `Exec=${teller} %f`]
    await Bun.write(`${applications}/teller.desktop`, [...entry, 'MimeType=text/plain;', ''].join('\n'))
    await Bun.write(
      `${setup().desktop.home}/.config/mimeapps.list`,
      '[Default Applications]\ntext/plain=teller.desktop\n',
    )
    const file = setup().desktop.path(`opened-${runtime}-${kind}.txt`)
    await Bun.write(file, 'a text')
    await program.run((computer, path) => computer.open(path), file)
    const told = await until('the application', () => Bun.file(`${file}.opened`).exists())
    expect(told).toBe(true)
  })
})
