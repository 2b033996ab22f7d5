/** Windows. */
import type { CallOptions, Point, Size } from '../basics.ts'
import type { Transport } from '../transports/transport.ts'

/** A window, where it is and how large. */
export interface WindowInfo extends Point, Size {
  readonly id: number
  readonly app: string
  readonly title: string
  readonly active: boolean
}

/** Windows; what takes an id throws `window_not_found`. */
export interface Windows {
  /** Title of the window that has the focus, empty if none has. */
  getActiveTitle(options?: CallOptions): Promise<string>
  /** The windows, frontmost first; with `app` those of an application, by a part of its name in any case. */
  list(options?: CallOptions & { app?: string }): Promise<WindowInfo[]>
  /** Raises it and gives it the focus. */
  activate(id: number, options?: CallOptions): Promise<void>
  /** Fills the screen with it. */
  maximize(id: number, options?: CallOptions): Promise<void>
  /** Puts it away. */
  minimize(id: number, options?: CallOptions): Promise<void>
  /** Asks it to close. */
  close(id: number, options?: CallOptions): Promise<void>
  /** Moves and sizes a window, as far as is given. */
  setBounds(id: number, bounds: Partial<Point & Size>, options?: CallOptions): Promise<void>
}

/** The windows behind a transport. */
export const windowsOf = (transport: Transport): Windows => ({
  getActiveTitle: async (options) => (await transport.send('get_active_window_title', {}, options)).result,
  async list(options) {
    const app = options?.app
    const { windows } = await transport.send('list_windows', app === undefined ? {} : { app }, options)
    return windows.map(({ window_id, app_name, title, bounds, active }) => ({
      id: window_id,
      app: app_name,
      title,
      active,
      ...bounds,
    }))
  },
  async activate(id, options) {
    await transport.send('activate_window', { window_id: id }, options)
  },
  async maximize(id, options) {
    await transport.send('maximize_window', { window_id: id }, options)
  },
  async minimize(id, options) {
    await transport.send('minimize_window', { window_id: id }, options)
  },
  async close(id, options) {
    await transport.send('close_window', { window_id: id }, options)
  },
  async setBounds(id, { x, y, width, height }, options) {
    const bounds = Object.entries({ x, y, width, height }).filter(([, each]) => each !== undefined)
    await transport.send('set_window_bounds', { window_id: id, ...Object.fromEntries(bounds) }, options)
  },
})
