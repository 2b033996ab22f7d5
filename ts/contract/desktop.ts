/** Records of the desktop, spelled on every wire as the native core gives them. */
import { Failure } from './failure.ts'

/** A rectangle in pixels; the origin is the top-left corner of the screen. */
export interface Rect {
  x: number
  y: number
  width: number
  height: number
}

/** One top-level window of an application. */
export interface Window {
  window_id: number
  /** Process that owns the window; 0 when it cannot be known. */
  pid: number
  app_name: string
  /** Empty when the window has none. */
  title: string
  /** The window without decorations, in screen pixels; null where the display server does not tell its place. */
  bounds: Rect | null
  /** Left edge of the bounds. */
  x: number | null
  /** Top edge of the bounds. */
  y: number | null
  width: number
  height: number
  /** Position in the stack; higher is nearer the front. */
  z_index: number
  is_on_screen: boolean
  on_current_space: boolean
  is_minimized: boolean
  /** `popup`: menu, combo list or tooltip, which no window manager manages. */
  kind: 'normal' | 'dialog' | 'popup'
  /** For popups and dialogs the window they belong to. */
  owner_window_id: number | null
}

/** The bounds of a window. Throws `unsupported` where its display server does not tell its place. */
export const boundsOf = ({ window_id, bounds }: Pick<Window, 'window_id' | 'bounds'>): Rect => {
  if (bounds !== null) return bounds
  throw new Failure(
    'unsupported',
    `The display server does not tell where window ${window_id} is on the screen. Use what needs no place there, or an X server.`,
    { window_id },
  )
}

/** An application: installed, running with windows, or both. */
export interface App {
  bundle_id: string
  name: string
  running: boolean
  /** True when it owns the active window. */
  active: boolean
  /** 0 when not running. */
  pid: number
  /** Path of the desktop file. */
  launch_path: string | null
  kind: 'desktop'
  /** RFC 3339. */
  last_used: string | null
}
