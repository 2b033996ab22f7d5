/** The cursor that shows where an agent acts: moving it, its looks, its motion, and whether it is seen. */
import { Failure } from '@backlot/contract/failure'
import { sessions as limits } from '@backlot/contract/limits'
import { Type } from '@sinclair/typebox'
import type { Call } from '../context.ts'
import { absolutePath } from '../paths.ts'
import { type CursorSettings, cursorDefaults, cursorIcons } from '../session/cursor-settings.ts'
import { type CursorConfig, type CursorView, defaultCursor } from '../session/cursors.ts'
import type { Session } from '../session/sessions.ts'
import { arranges, type Outcome, reads, tool } from '../tool/tool.ts'

const cursorId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: limits.longestName,
    description: "A session's; else the caller's own.",
  }),
)

/** Runs something for the session whose cursor is meant: the one that is named, which it keeps alive, else the call's. */
const forCursor = <T>(
  call: Call,
  cursor_id: string | undefined,
  work: (owner: Session) => Promise<T>,
  onlyLooks = false,
): Promise<T> => {
  if (cursor_id === undefined || cursor_id === defaultCursor) return work(call.owner)
  const { client, holder, driver, signal } = call
  return driver.sessions.runCall({ client, ...(holder && { holder }), session: cursor_id }, signal, work, onlyLooks)
}

export const getAgentCursorState = tool({
  name: 'get_agent_cursor_state',
  title: 'Agent cursor state',
  description: "Place, visibility and looks of an agent's cursor.",
  arguments: Type.Object({ cursor_id: cursorId }),
  attributes: reads(),
  async run(call, { cursor_id }) {
    const view = await forCursor(call, cursor_id, (owner) => call.driver.cursors.view(owner), true)
    const { position } = view
    const where = position === null ? 'was nowhere yet' : `is at (${position.x}, ${position.y})`
    const { text, structured } = outcomeOf(view, `✅ Cursor "${view.cursor_id}" ${where}, ${visibility(view)}.`)
    return { text, structured: { ...structured, cursors: call.driver.cursors.configs.map(listed) } }
  },
})

export const moveCursor = tool({
  name: 'move_cursor',
  title: 'Move the cursor',
  description: "Moves the agent's cursor over the screen; the person's mouse stays. Returns once it has arrived.",
  arguments: Type.Object({
    x: Type.Number({ description: 'X on the screen.' }),
    y: Type.Number({ description: 'Y on the screen.' }),
    cursor_id: cursorId,
  }),
  attributes: { ...arranges, recorded: true },
  async run(call, { x, y, cursor_id }) {
    const { width, height } = await (await call.driver.desktop()).screen()
    const outside = x < 0 || x >= width ? 'x' : y < 0 || y >= height ? 'y' : undefined
    if (outside !== undefined) {
      throw new Failure(
        'invalid_argument',
        `Argument "${outside}" lies outside the display. Pass x from 0 to ${width - 1} and y from 0 to ${height - 1}.`,
        { argument: outside, width, height },
      )
    }
    const to = { x: Math.floor(x), y: Math.floor(y) }
    const view = await forCursor(call, cursor_id, (owner) => call.driver.cursors.move(owner, to))
    return outcomeOf(view, `✅ Cursor "${view.cursor_id}" moved to (${to.x}, ${to.y}), ${visibility(view)}.`)
  },
})

export const setAgentCursorEnabled = tool({
  name: 'set_agent_cursor_enabled',
  title: 'Show or hide the cursor',
  description: "Shows or hides an agent's cursor.",
  arguments: Type.Object({ enabled: Type.Boolean(), cursor_id: cursorId }),
  attributes: arranges,
  async run(call, { enabled, cursor_id }) {
    const view = await forCursor(call, cursor_id, (owner) => call.driver.cursors.enable(owner, enabled))
    return outcomeOf(view, `✅ Cursor "${view.cursor_id}" is ${enabled ? 'enabled' : 'disabled'}, ${visibility(view)}.`)
  },
})

const part = (more: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1, more }))

const milliseconds = (minimum: number, maximum: number, more: string) =>
  Type.Optional(Type.Number({ minimum, maximum, more }))

const defaults = cursorDefaults

export const setAgentCursorMotion = tool({
  name: 'set_agent_cursor_motion',
  title: 'Set how the cursor looks and moves',
  description:
    "Sets an agent's cursor: shape, colour, label, size and opacity, its path (0 to 1 each), and its times. What is left out stays.",
  arguments: Type.Object({
    cursor_id: cursorId,
    cursor_icon: Type.Optional(
      Type.String({ minLength: 1, description: `${cursorIcons.join(', ')}, or the path of a PNG or SVG.` }),
    ),
    cursor_color: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Hex or CSS name.' })),
    cursor_label: Type.Optional(Type.String({ maxLength: 64 })),
    cursor_size: Type.Optional(
      Type.Number({
        minimum: 4,
        maximum: 100,
        description: 'Dot radius in points.',
        more: `Default ${defaults.size}.`,
      }),
    ),
    cursor_opacity: part(`Default ${defaults.opacity}.`),
    start_handle: part(`Default ${defaults.start_handle}.`),
    end_handle: part(`Default ${defaults.end_handle}.`),
    arc_size: part(`Default ${defaults.arc_size}.`),
    arc_flow: Type.Optional(
      Type.Number({
        minimum: -1,
        maximum: 1,
        description: 'Above 0 bulges to the destination.',
        more: `Default ${defaults.arc_flow}.`,
      }),
    ),
    spring: Type.Optional(
      Type.Number({
        minimum: 0.3,
        maximum: 1,
        description: '1 never overshoots.',
        more: `Default ${defaults.spring}.`,
      }),
    ),
    glide_duration_ms: milliseconds(50, 5_000, `Default ${defaults.glide_duration_ms}.`),
    dwell_after_click_ms: milliseconds(0, 5_000, `Default ${defaults.dwell_after_click_ms}.`),
    idle_hide_ms: milliseconds(0, 60_000, `0: never. Default ${defaults.idle_hide_ms}.`),
  }),
  attributes: arranges,
  async run(call, args) {
    const { cursor_id, cursor_icon, cursor_color, cursor_label, cursor_size, cursor_opacity, ...pace } = args
    const icon = cursor_icon === undefined ? {} : await iconOf(call, cursor_icon)
    return changed(call, cursor_id, 'motion', {
      ...pace,
      ...icon,
      ...(cursor_color !== undefined && { color: await colorIn(call, 'cursor_color', cursor_color) }),
      ...(cursor_label !== undefined && { label: cursor_label }),
      ...(cursor_size !== undefined && { size: cursor_size }),
      ...(cursor_opacity !== undefined && { opacity: cursor_opacity }),
    })
  },
})

const hex = '#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})'

export const setAgentCursorStyle = tool({
  name: 'set_agent_cursor_style',
  title: 'Style the cursor',
  description: "Sets a gradient, a glow or an image for an agent's cursor. What is left out stays.",
  arguments: Type.Object({
    cursor_id: cursorId,
    gradient_colors: Type.Optional(
      Type.Array(Type.String({ pattern: `^${hex}$`, description: '#RRGGBB' }), {
        maxItems: 16,
        description: 'Tip to tail; [] reverts.',
      }),
    ),
    bloom_color: Type.Optional(Type.String({ pattern: `^(?:${hex})?$`, description: '#RRGGBB, or empty to revert.' })),
    image_path: Type.Optional(Type.String({ description: 'PNG, JPEG, SVG or ICO; empty reverts to the arrow.' })),
  }),
  attributes: arranges,
  async run(call, { cursor_id, gradient_colors, bloom_color, image_path }) {
    const color = (text: string) => colorIn(call, 'gradient_colors', text)
    const image =
      image_path === undefined
        ? {}
        : image_path === ''
          ? ({ icon: 'arrow', image_path: undefined } as const)
          : { image_path: await imageIn(call, 'image_path', image_path) }
    return changed(call, cursor_id, 'style', {
      ...image,
      ...(gradient_colors && { gradient_colors: await Promise.all(gradient_colors.map(color)) }),
      ...(bloom_color !== undefined && {
        bloom_color: bloom_color === '' ? undefined : await colorIn(call, 'bloom_color', bloom_color),
      }),
    })
  },
})

const changed = async (
  call: Call,
  cursor_id: string | undefined,
  kind: string,
  changes: Partial<CursorSettings>,
): Promise<Outcome> => {
  const view = await forCursor(call, cursor_id, (owner) => call.driver.cursors.set(owner, changes))
  const names = Object.keys(changes)
  const what = names.length === 0 ? `keeps its ${kind}` : `has a new ${kind}: ${names.join(', ')}`
  const unread = view.settings.label !== '' && view.overlay !== 'off' && !view.labelled
  return outcomeOf(
    view,
    `✅ Cursor "${view.cursor_id}" ${what}.${unread ? ' No font has the letters of its label.' : ''}`,
  )
}

const iconOf = async (call: Call, named: string): Promise<Partial<CursorSettings>> => {
  const icon = cursorIcons.find((each) => each === named)
  if (icon !== undefined) return { icon, image_path: undefined }
  if (!/[/.~]/.test(named)) {
    throw new Failure(
      'invalid_argument',
      `Argument "cursor_icon" must be one of ${cursorIcons.join(', ')} or the path of a PNG or SVG, not "${named}".`,
      { argument: 'cursor_icon' },
    )
  }
  return { image_path: await imageIn(call, 'cursor_icon', named) }
}

/** The absolute path of an image that can be shown. Throws `invalid_argument` and `cursor_image_unreadable`. */
const imageIn = async (call: Call, argument: string, path: string): Promise<string> => {
  const absolute = absolutePath(argument, path)
  await (await call.driver.native()).checkCursorImage(absolute)
  return absolute
}

/** The hex form of a colour. Throws `invalid_argument`. */
const colorIn = async (call: Call, argument: string, text: string): Promise<string> => {
  try {
    return (await call.driver.native()).colorHex(text)
  } catch (error) {
    throw new Failure('invalid_argument', `Argument "${argument}": ${Failure.from(error).message}`, { argument })
  }
}

const visibility = ({ visible, enabled, overlay }: CursorView): string => {
  if (overlay === 'off') return 'not seen: the daemon runs with --no-overlay'
  if (overlay === 'unavailable') return 'not seen: the X server has no overlay'
  return visible ? 'visible' : enabled ? 'hidden until it acts' : 'hidden'
}

/** The record of the specification, and beside it everything else that is known. */
/** A cursor among all, with what it is set to. */
const listed = ({ cursor_id, enabled, settings }: CursorConfig) => {
  const { icon, image_path, ...rest } = settings
  return { config: { cursor_id, enabled, icon: image_path ?? icon, ...rest } }
}

const outcomeOf = (view: CursorView, text: string): Outcome => {
  const { cursor_id, position, enabled, visible, overlay, settings } = view
  const { icon, image_path, color, label, size, opacity, gradient_colors, bloom_color, ...motion } = settings
  return {
    text,
    structured: {
      cursor_id,
      position,
      enabled,
      visible,
      overlay,
      config: { color, icon: image_path ?? icon, label, size, opacity },
      style: { gradient_colors, bloom_color: bloom_color ?? null, image_path: image_path ?? null },
      motion,
    },
  }
}
