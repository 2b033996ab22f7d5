/** What tests ask of `list_windows` and `get_window_state`, with the types of the answers. */
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'

/** A record of `list_windows`, as far as tests use it. */
export interface ListedWindow {
  readonly window_id: number
  readonly pid: number
  readonly title: string
  readonly bounds: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
  readonly kind: 'normal' | 'dialog' | 'popup'
  readonly owner_window_id: number | null
  readonly is_minimized: boolean
  readonly is_on_screen: boolean
  readonly on_current_space: boolean
}

/** A record of `elements`, as far as tests use it; frames are screen pixels. */
export interface ListedElement {
  readonly element_index: number
  readonly element_token: string
  readonly role: string
  readonly label: string
  readonly value: string | null
  readonly states: readonly string[]
  readonly frame: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}

/** A window to act on. */
export interface Target {
  readonly pid: number
  readonly window_id: number
}

/** The windows of a process. */
export const windowsOf = async (client: McpClient, pid: number): Promise<readonly ListedWindow[]> =>
  (await client.ask<{ windows: ListedWindow[] }>('list_windows', { pid })).windows

/** The window with that id once it is listed, which a window manager makes it a moment after it is there. */
export const listedWindow = (client: McpClient, windowId: number): Promise<ListedWindow> =>
  until(`the window ${windowId} to be listed`, async () =>
    (await client.ask<{ windows: ListedWindow[] }>('list_windows')).windows.find(
      ({ window_id }) => window_id === windowId,
    ),
  )

/** The elements of a window. */
export const elementsOf = async (client: McpClient, target: Target): Promise<readonly ListedElement[]> =>
  (await client.ask<{ elements: ListedElement[] }>('get_window_state', { ...target, capture_mode: 'ax' })).elements

/** The element that a test wants is not in the window's tree. */
export class NoElement extends Error {}

/** The element of that label, read now. */
export const element = async (
  client: McpClient,
  target: Target,
  label: string,
  role?: string,
): Promise<ListedElement> => {
  const elements = await elementsOf(client, target)
  const found = elements.find((each) => each.label === label && (role === undefined || each.role === role))
  if (found !== undefined) return found
  throw new NoElement(`no "${label}" among ${elements.map((each) => `${each.role} "${each.label}"`).join(', ')}`)
}

/** The middle of an element in window pixels. */
export const middleOf = async (client: McpClient, target: Target, label: string): Promise<{ x: number; y: number }> => {
  const windows = await windowsOf(client, target.pid)
  const window = windows.find(({ window_id }) => window_id === target.window_id)
  const { frame } = await element(client, target, label)
  return {
    x: frame.x + Math.floor(frame.w / 2) - (window?.bounds.x ?? 0),
    y: frame.y + Math.floor(frame.h / 2) - (window?.bounds.y ?? 0),
  }
}
