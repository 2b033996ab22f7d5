/** Independent witnesses: other clients of the display and of the accessibility bus, which share no code with Backlot. */
import { join } from 'node:path'
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

const ask = async (on: TestDesktop, program: string, ...words: (string | number)[]): Promise<string> => {
  const { status, stdout, stderr } = await on.run([python, join(import.meta.dir, program), ...words.map(String)])
  if (status !== 0) throw new Error(`witness ${program} ${words.join(' ')}: ${stderr}`)
  return stdout
}

/** Asks a second X client how things stand. */
export const displayState = async (on: TestDesktop): Promise<DisplayState> =>
  JSON.parse(await ask(on, 'x.py', 'state')) as DisplayState

/** Whether nobody holds the person's pointer and keyboard. */
export const grabbable = async (on: TestDesktop): Promise<{ pointer: boolean; keyboard: boolean }> =>
  JSON.parse(await ask(on, 'x.py', 'grabbable')) as { pointer: boolean; keyboard: boolean }

/** The keysyms of every keycode, as programs see them. */
export const keymapOf = async (on: TestDesktop): Promise<Readonly<Record<string, readonly number[]>>> =>
  JSON.parse(await ask(on, 'x.py', 'keymap')) as Record<string, number[]>

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
  move: (on: TestDesktop, window: number, x: number, y: number) => ask(on, 'x.py', 'move', window, x, y),
  raise: (on: TestDesktop, window: number) => ask(on, 'x.py', 'raise', window),
  activate: (on: TestDesktop, window: number) => ask(on, 'x.py', 'activate', window),
  minimize: (on: TestDesktop, window: number) => ask(on, 'x.py', 'minimize', window),
  toWorkspace: (on: TestDesktop, window: number, workspace: number) => ask(on, 'x.py', 'desktop', window, workspace),
  wallpaper: (on: TestDesktop) => ask(on, 'x.py', 'wallpaper'),
  point: (on: TestDesktop, x: number, y: number) => ask(on, 'x.py', 'point', x, y),
}

/** Walks the accessibility tree of the windows of a process whose title contains `title`. */
export const witnessedTree = async (on: TestDesktop, pid: number, title: string): Promise<WitnessedNode[]> =>
  JSON.parse(await ask(on, 'tree.py', pid, title)) as WitnessedNode[]

/** Takes a PNG or a JPEG apart with ImageMagick. */
export const pixelsOf = async (picture: Uint8Array): Promise<Pixels> => {
  const convert = Bun.spawn(['convert', '-', '-depth', '8', 'ppm:-'], {
    stdin: picture,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const ppm = Buffer.from(await convert.stdout.bytes())
  const [header, width, height] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.subarray(0, 40).toString('latin1')) ?? []
  if (header === undefined) throw new Error('ImageMagick does not read the picture')
  return { width: Number(width), height: Number(height), rgb: ppm.subarray(header.length) }
}

/** Photographs a window that nothing covers, or the whole display with the cursors of agents, with ImageMagick. */
export const photograph = async (on: TestDesktop, window: number | 'root'): Promise<Pixels> => {
  const shot = Bun.spawn(['import', '-silent', '-window', String(window), 'png:-'], {
    env: on.env,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return pixelsOf(await shot.stdout.bytes())
}

/** The colour of a pixel: `#ff0000`. */
export const colorAt = ({ rgb, width }: Pixels, x: number, y: number): string =>
  `#${rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3).toString('hex')}`
