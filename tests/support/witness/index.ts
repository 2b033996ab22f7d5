/** Independent witnesses: other clients of the display and of the accessibility bus, which share no code with Backlot. */
import { join } from 'node:path'
import { linesOf } from '@backlot/contract/lines'
import type { PrivateDesktop } from '@backlot/headless'
import { python } from '../applications.ts'
import type { TestDesktop } from '../desktop.ts'

/** How things stand on the display, seen by a second X client. */
export interface DisplayState {
  readonly pointer: { readonly x: number; readonly y: number; readonly buttons: number }
  /** Keycodes that are down. */
  readonly keys: readonly number[]
  readonly focus: number
  readonly active_window: number | null
  readonly stacking: readonly number[]
  readonly clients: readonly number[]
  readonly children: readonly { readonly window_id: number; readonly input_shape: readonly number[][] }[]
  readonly masters: readonly string[]
  readonly is_composited: boolean
  /** False also while there is a compositor that leaves a full-screen window to the server. */
  readonly is_drawn_by_compositor: boolean
}

/** A node as the independent walk of the accessibility tree finds it; extents are x, y, width, height in the window. */
export interface WitnessedNode {
  readonly role: string
  readonly name: string
  readonly states: readonly string[]
  readonly actions: readonly string[]
  readonly extents: readonly [number, number, number, number] | null
  readonly depth: number
}

/** A picture taken apart: three bytes a pixel, row by row. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly rgb: Buffer
}

/** The second X clients of each desktop by their display, which stay until that ends. */
const clients = new WeakMap<PrivateDesktop, Map<string, (request: string) => Promise<string>>>()

const startClient = (on: TestDesktop, ended: () => void): ((request: string) => Promise<string>) => {
  const child = Bun.spawn([python, join(import.meta.dir, 'x.py')], {
    cwd: on.home,
    env: on.env,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    onExit: ended,
  })
  // Nobody waits for it: it ends with the desktop.
  child.unref()
  const lines = linesOf(child.stdout)
  let last: Promise<unknown> = Promise.resolve()
  const askNow = async (request: string): Promise<string> => {
    child.stdin.write(`${request}\n`)
    child.stdin.flush()
    const { value } = await lines.next()
    if (value === undefined) throw new Error(`witness ${request}: ${await child.stderr.text()}`)
    return value
  }
  return (request) => {
    const answer = last.then(() => askNow(request))
    last = answer.catch(() => undefined)
    return answer
  }
}

/** One request to the second X client, and its answer in JSON. */
const ask = (on: TestDesktop, ...words: (string | number)[]): Promise<string> => {
  const ofDesktop = clients.get(on.desktop) ?? new Map<string, (request: string) => Promise<string>>()
  clients.set(on.desktop, ofDesktop)
  const display = on.env.DISPLAY ?? ''
  const client = ofDesktop.get(display) ?? startClient(on, () => ofDesktop.delete(display))
  ofDesktop.set(display, client)
  return client(words.join(' '))
}

/** Asks a second X client how things stand. */
export const displayState = async (on: TestDesktop): Promise<DisplayState> =>
  JSON.parse(await ask(on, 'state')) as DisplayState

/** Whether nobody holds the person's pointer and keyboard. */
export const grabbable = async (on: TestDesktop): Promise<{ pointer: boolean; keyboard: boolean }> =>
  JSON.parse(await ask(on, 'grabbable')) as { pointer: boolean; keyboard: boolean }

/** The keysyms of every keycode, as programs see them. */
export const keymapOf = async (on: TestDesktop): Promise<Readonly<Record<string, readonly number[]>>> =>
  JSON.parse(await ask(on, 'keymap')) as Record<string, number[]>

/** Where a window is without what the window manager puts around it, in pixels of the display, as `xwininfo` says. */
export const boundsOf = async (
  on: TestDesktop,
  window: number,
): Promise<{ x: number; y: number; width: number; height: number }> => {
  const { stdout, stderr } = await on.run(['xwininfo', '-id', String(window)])
  const [x, y, width, height] = ['Absolute upper-left X', 'Absolute upper-left Y', 'Width', 'Height'].map((name) => {
    const number = new RegExp(`^ *${name}: +(-?[0-9]+)$`, 'm').exec(stdout)?.[1]
    if (number === undefined) throw new Error(`xwininfo says no "${name}": ${stdout}${stderr}`)
    return Number(number)
  }) as [number, number, number, number]
  return { x, y, width, height }
}

/** Does on the display what a person could. */
export const asPerson = {
  move: (on: TestDesktop, window: number, x: number, y: number) => ask(on, 'move', window, x, y),
  raise: (on: TestDesktop, window: number) => ask(on, 'raise', window),
  activate: (on: TestDesktop, window: number) => ask(on, 'activate', window),
  minimize: (on: TestDesktop, window: number) => ask(on, 'minimize', window),
  toWorkspace: (on: TestDesktop, window: number, workspace: number) => ask(on, 'desktop', window, workspace),
  wallpaper: (on: TestDesktop) => ask(on, 'wallpaper'),
  point: (on: TestDesktop, x: number, y: number) => ask(on, 'point', x, y),
}

/** Walks the accessibility tree of the windows of a process whose title contains `title`. */
export const witnessedTree = async (on: TestDesktop, pid: number, title: string): Promise<WitnessedNode[]> => {
  const { status, stdout, stderr } = await on.run([python, join(import.meta.dir, 'tree.py'), String(pid), title])
  if (status !== 0) throw new Error(`witness tree.py ${pid} ${title}: ${stderr}`)
  return JSON.parse(stdout) as WitnessedNode[]
}

/** Takes a PNG or a JPEG apart with ImageMagick. */
export const pixelsOf = async (picture: Uint8Array): Promise<Pixels> => {
  const convert = Bun.spawn(['convert', '-', '-depth', '8', 'ppm:-'], {
    stdin: picture,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return pixelsOfPpm(await convert.stdout.bytes())
}

const pixelsOfPpm = (picture: Uint8Array): Pixels => {
  const ppm = Buffer.from(picture)
  const [header, width, height] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.subarray(0, 40).toString('latin1')) ?? []
  if (header === undefined) throw new Error('ImageMagick does not read the picture')
  return { width: Number(width), height: Number(height), rgb: ppm.subarray(header.length) }
}

/** Photographs a window that nothing covers, or the whole display with the cursors of agents, with ImageMagick. */
export const photograph = async (on: TestDesktop, window: number | 'root'): Promise<Pixels> => {
  const shot = Bun.spawn(['import', '-silent', '-window', String(window), '-depth', '8', 'ppm:-'], {
    env: on.env,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return pixelsOfPpm(await shot.stdout.bytes())
}

/** The colour of a pixel: `#ff0000`. */
export const colorAt = ({ rgb, width }: Pixels, x: number, y: number): string =>
  `#${rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3).toString('hex')}`
