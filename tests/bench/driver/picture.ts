/** Pictures of a window that fills a screen of 1920x1080, against a copy of its pixels and a plain PNG of them. */
import { Capturer } from '@backlot/native'
import { startChromium, startGtk3, startXterm } from '../../support/applications.ts'
import { backlotCommand } from '../../support/backlot.ts'
import type { BenchDesktop } from './bench-desktop.ts'
import { milliseconds, type Row, sideBySide } from './measure.ts'
import { Program } from './program.ts'
import { Server } from './server.ts'

const gradients = [
  'linear-gradient(135deg, #1e3c72, #f5af19, #7b4397)',
  'linear-gradient(90deg, #134e5e, #71b280)',
  'radial-gradient(circle at 30% 40%, #ffffff, #ff512f, #24243e)',
  'conic-gradient(from 45deg, #12c2e9, #c471ed, #f64f59, #12c2e9)',
]

const colourfulPage = (html: string): string => {
  const card = (background: string, index: number) =>
    `<div style="background: ${background}; flex: 1 0 45%; height: 420px; color: white">Card ${index} of words over colour</div>`
  const cards = gradients.map(card).join('')
  return html.replace('<body>', `<body><div style="display: flex; flex-wrap: wrap; gap: 20px">${cards}</div>`)
}

interface Drawn {
  /** Rows for what changes in a window, measured on this frame alone. */
  readonly alsoChanges: boolean
  readonly name: string
  readonly timesCopy: number
}

/** Pictures of what the screen shows now, put into a window of its own. */
const frameRows = async (desktop: BenchDesktop, { name, timesCopy, alsoChanges }: Drawn): Promise<Row[]> => {
  const { on, x } = desktop
  await using frames = new Program([await desktop.example('capture', 'frames'), `Frames of ${name}`], on.env)
  const window_id = Number(await frames.next())
  const window = await desktop.windowOf('the frames', (each) => each.window_id === window_id)
  const { width, height } = window
  if (width !== 1920 || height !== 1080) throw new Error(`the window of frames is ${width}x${height}`)
  // From here on the server keeps the window's pixels, which the bare frame needs too.
  const capturer = await Capturer.open(x)
  await using floor = new Program([await desktop.example('capture', 'floor'), String(window_id)], on.env)
  await using server = await Server.open(on, backlotCommand('mcp'))
  const shoot = async () => (await capturer.window(window_id, 0)).png.toBase64()
  const look = { pid: window.pid, window_id, capture_mode: 'vision' }
  const overMcp = () => milliseconds(() => server.call('get_window_state', look))
  try {
    let [copy, base64] = [Number.NaN, '']
    const times = await sideBySide(30, {
      fresh: async () => {
        copy = Number(await frames.ask('new'))
        return milliseconds(async () => {
          base64 = await shoot()
        })
      },
      copy: async () => copy,
      bytes: async () => (base64.length * 0.75) / 1024,
      plain: async () => {
        const [frame = Number.NaN, png = Number.NaN] = (await floor.ask('')).split(' ').map(Number)
        return frame + png
      },
    })
    const rows: Row[] = [
      {
        what: `new 1920x1080 frame of ${name} to base64 PNG`,
        unit: 'ms',
        measured: times.fresh,
        floor: { name: 'cold copy of its pixels', spread: times.copy },
        aim: { of: 'ratio', atMost: timesCopy },
      },
      {
        what: 'the same, against a plain encoder',
        unit: 'ms',
        measured: times.fresh,
        floor: { name: 'bare frame and its PNG', spread: times.plain },
        aim: { of: 'ratio', atMost: 1.3 },
      },
      { what: 'its PNG', unit: 'KB', measured: times.bytes },
    ]
    if (!alsoChanges) return rows
    const small = await sideBySide(30, {
      fullOverMcp: async () => {
        await frames.ask('new')
        return overMcp()
      },
      touched: async () => {
        await shoot()
        await frames.ask('touch')
        return milliseconds(shoot)
      },
      touchedOverMcp: async () => {
        await overMcp()
        await frames.ask('touch')
        return overMcp()
      },
      unchanged: async () => {
        await shoot()
        return milliseconds(shoot)
      },
      unchangedOverMcp: overMcp,
    })
    return [
      ...rows,
      { what: 'the same new frame end to end, over MCP and its daemon', unit: 'ms', measured: small.fullOverMcp },
      { what: 'picture after a small change, in process', unit: 'ms', measured: small.touched },
      {
        what: 'picture after a small change, end to end over MCP and its daemon',
        unit: 'ms',
        measured: small.touchedOverMcp,
        aim: { of: 'median', atMost: 4 },
      },
      { what: 'picture of the unchanged window, in process', unit: 'ms', measured: small.unchanged },
      {
        what: 'picture of the unchanged window, over MCP and its daemon',
        unit: 'ms',
        measured: small.unchangedOverMcp,
      },
    ]
  } finally {
    await capturer.close()
  }
}

/** Frames of windows and text, then of gradients. */
export const pictureRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const { on } = desktop
  const rows: Row[] = []
  {
    await using browser = await startChromium(on)
    const factory = on.start(['gtk3-widget-factory'])
    const controls = await startGtk3(on, 'controls', { geometry: '420x480+1400+40' })
    const terminal = await startXterm(on)
    await desktop.windowOf('Chromium', ({ title }) => title.startsWith(browser.title))
    await desktop.windowOf('gtk3-widget-factory', ({ pid }) => pid === factory.pid)
    rows.push(...(await frameRows(desktop, { name: 'windows and text', timesCopy: 5, alsoChanges: true })))
    await desktop.end(factory, controls, terminal)
  }
  await using _browser = await startChromium(on, { content: colourfulPage, flags: ['--start-maximized'] })
  rows.push(...(await frameRows(desktop, { name: 'gradients', timesCopy: 8, alsoChanges: false })))
  return rows
}
