/** The files of one turn, its pictures among them. */

import { boundsOf } from '@backlot/contract/desktop'
import type { Content } from '@backlot/native/durable'
import type { Application } from './application.ts'
import { asJson, names } from './folder.ts'
import type { ClickPoint, Turn } from './turn.ts'

/** The files of a turn by name; `facts` stand first in its action. */
export const filesOf = async (
  { action, state, application, click, isSecret }: Turn,
  facts: Readonly<Record<string, unknown>>,
): Promise<Record<string, Content>> => {
  const pictures = isSecret ? { missing: 'a secret was typed' } : await picturesOf(application, click)
  const { screenshot, dotted, missing } = pictures
  return {
    ...(screenshot && { [names.screenshot]: screenshot.png }),
    ...(dotted && { [names.click]: dotted.png }),
    [names.state]: state,
    // Last, so that a turn without it is one that was not finished.
    [names.action]: asJson({
      ...facts,
      ...action,
      screenshot: screenshot
        ? { file: names.screenshot, window_id: screenshot.window_id, stale: screenshot.stale }
        : null,
      click_picture: dotted ? { file: names.click, window_id: dotted.window_id } : null,
      ...(missing !== undefined && { screenshot_missing: missing }),
    }),
  }
}

interface Picture {
  readonly png: Uint8Array
  readonly window_id: number
  readonly stale: boolean
}

const picturesOf = async (
  { shot, clicked, missing }: Application,
  click: ClickPoint | undefined,
): Promise<{
  readonly screenshot?: Picture
  readonly dotted?: Picture
  readonly missing?: string | undefined
}> => {
  if (shot === undefined) return { missing }
  const take = async (
    { window, pixels }: NonNullable<Application['shot']>,
    point?: { x: number; y: number },
  ): Promise<Picture> => ({
    png: await pixels.png(point),
    window_id: window.window_id,
    stale: pixels.stale,
  })
  // The point may lie in a window behind the one in front, or in one that the click has closed.
  const dots = click === undefined ? [] : [shot, ...(clicked === undefined ? [] : [clicked])]
  const under = dots
    .map((seen) => {
      const { x, y } = boundsOf(seen.window)
      return { seen, at: { x: (click?.screen_x ?? 0) - x, y: (click?.screen_y ?? 0) - y } }
    })
    .find(({ seen: { pixels }, at }) => at.x >= 0 && at.y >= 0 && at.x < pixels.width && at.y < pixels.height)
  const [screenshot, dotted] = await Promise.all([take(shot), under && take(under.seen, under.at)])
  return { screenshot, ...(dotted && { dotted }) }
}
