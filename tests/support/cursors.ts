/** The cursors of agents: what is acted on with them, what the tools say of them, and what a second client sees. */
import { type Application, startGtk3 } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import type { Target } from './look.ts'
import { connect, type McpClient } from './mcp-client.ts'
import { colorAt, displayState, type Pixels } from './witness/index.ts'

/** `get_agent_cursor_state`, as far as tests use it. */
export interface CursorFacts {
  readonly cursor_id: string
  readonly position: { readonly x: number; readonly y: number } | null
  readonly enabled: boolean
  readonly visible: boolean
  readonly overlay: string
  readonly config: Readonly<Record<string, unknown>> & { readonly color: string }
  readonly motion: Readonly<Record<string, number>>
  readonly style: Readonly<Record<string, unknown>>
}

/** A window of controls, and a client. */
export interface Scene {
  readonly app: Application
  readonly target: Target
  readonly client: McpClient
}

/** Starts the controls where cursors have room beside them, and a client of the desktop's daemon. */
export const startScene = async (on: TestDesktop): Promise<Scene> => {
  const app = await startGtk3(on, 'controls', { geometry: '420x480+100+100' })
  return { app, target: { pid: app.pid, window_id: app.windowId }, client: await connect(on) }
}

/** A cursor as the tool tells of it. */
export const cursorState = (client: McpClient, args: Readonly<Record<string, unknown>> = {}): Promise<CursorFacts> =>
  client.ask<CursorFacts>('get_agent_cursor_state', args)

/** Arguments of a dot of one colour, which is easily seen. */
export const dot = (color: string, args: Readonly<Record<string, unknown>> = {}) => ({
  cursor_icon: 'dot',
  cursor_color: color,
  ...args,
})

/** How many pixels near a place have a colour. */
export const countOf = (pixels: Pixels, color: string, at: { readonly x: number; readonly y: number }): number => {
  const around = Array.from({ length: 61 }, (_, index) => index - 30)
  return around.flatMap((y) => around.filter((x) => colorAt(pixels, at.x + x, at.y + y) === color)).length
}

/** Windows that a second X client finds on the display and that take no input. */
export const overlays = async (on: TestDesktop): Promise<number[]> =>
  (await displayState(on)).children
    .filter(({ input_shape }) => input_shape.length === 0)
    .map(({ window_id }) => window_id)

/** Those of them that are shown. */
export const shownOverlays = async (on: TestDesktop): Promise<number[]> => {
  const all = await overlays(on)
  const said = await Promise.all(all.map((window) => on.run(['xwininfo', '-id', String(window)])))
  return all.filter((_, index) => said[index]?.stdout.includes('Map State: IsViewable'))
}
