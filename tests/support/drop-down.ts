/** The drop-down of the toolkits' applications that shows a list of fruits. */
import { elementsOf, type ListedWindow, type Target, windowsOf } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'

/** The lists and menus of the window's application that are shown. */
export const popupsOf = async (client: McpClient, { pid }: Target): Promise<readonly ListedWindow[]> =>
  (await windowsOf(client, pid)).filter(({ kind, is_on_screen }) => kind === 'popup' && is_on_screen)

/**
 * A place in the box that opens the list, in window pixels, once the application knows where its window is now and
 * `isInPlace` says that it is where it is to be.
 */
export const boxOf = (
  client: McpClient,
  target: Target,
  isInPlace: (window: ListedWindow) => boolean = () => true,
): Promise<{ x: number; y: number }> =>
  until('the box within its window', async () => {
    const window = (await windowsOf(client, target.pid)).find(({ window_id }) => window_id === target.window_id)
    const boxes = (await elementsOf(client, target)).filter(({ role }) => role === 'combo box')
    const frame = boxes.find(({ label, value }) => label === 'Fruit' || value === 'Apple')?.frame
    if (window === undefined || frame === undefined) return undefined
    const { bounds } = window
    const place = {
      x: Math.floor(frame.x + frame.w / 2) - bounds.x,
      y: Math.floor(frame.y + frame.h / 2) - bounds.y,
    }
    const isInside = place.x > 0 && place.y > 0 && place.x < bounds.width && place.y < bounds.height
    return isInPlace(window) && isInside ? place : undefined
  })
