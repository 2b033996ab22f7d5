/** What is set of one cursor, and how the core is told. */
import type { CursorPace, CursorStyle } from '@backlot/native'

/** The built-in shapes. */
export const cursorIcons = ['arrow', 'crosshair', 'hand', 'dot'] as const

/** Everything that can be set of a cursor; times are in milliseconds. */
export interface CursorSettings extends Readonly<CursorPace> {
  readonly icon: (typeof cursorIcons)[number]
  /** Absolute path of an image that is shown instead of the icon. */
  readonly image_path: string | undefined
  /** A hex colour. */
  readonly color: string
  readonly label: string
  /** The radius of the dot in points, the others in proportion. */
  readonly size: number
  /** 0 to 1. */
  readonly opacity: number
  /** Hex colours from tip to tail; empty: the colour alone. */
  readonly gradient_colors: readonly string[]
  /** A hex colour. */
  readonly bloom_color: string | undefined
}

/** Where every setting begins but the colour, which follows from the name. */
export const cursorDefaults = {
  icon: 'arrow',
  image_path: undefined,
  label: '',
  size: 16,
  opacity: 0.85,
  gradient_colors: [],
  bloom_color: undefined,
  start_handle: 0.3,
  end_handle: 0.3,
  arc_size: 0.25,
  arc_flow: 0,
  spring: 0.72,
  glide_duration_ms: 160,
  dwell_after_click_ms: 80,
  idle_hide_ms: 20_000,
} as const satisfies Omit<CursorSettings, 'color'>

/** The looks among the settings. */
export const styleOf = (settings: CursorSettings): CursorStyle => ({
  // The binding's own enumeration has the same words.
  icon: settings.icon as CursorStyle['icon'],
  color: settings.color,
  label: settings.label,
  size: settings.size,
  opacity: settings.opacity,
  gradient_colors: [...settings.gradient_colors],
  ...(settings.image_path !== undefined && { image_path: settings.image_path }),
  ...(settings.bloom_color !== undefined && { bloom_color: settings.bloom_color }),
})

/** The times and the path among the settings. */
export const paceOf = (settings: CursorSettings): CursorPace => ({
  start_handle: settings.start_handle,
  end_handle: settings.end_handle,
  arc_size: settings.arc_size,
  arc_flow: settings.arc_flow,
  spring: settings.spring,
  glide_duration_ms: settings.glide_duration_ms,
  dwell_after_click_ms: settings.dwell_after_click_ms,
  idle_hide_ms: settings.idle_hide_ms,
})
