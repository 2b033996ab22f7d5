/** Windows. */
import { boundsOf } from '@backlot/contract/desktop'
import { Failure } from '@backlot/contract/failure'
import type { Desktop, Window } from '@backlot/native'
import type { Handlers } from '../../backend.ts'
import type { Display } from './display.ts'

/** Milliseconds in which a window closes, unless its program asks something first. */
const closeWaitMs = 5_000

type WindowReference = { readonly window_id?: number | string }

export const windowHandlers = (display: Display) => ({ ...readingHandlers(display), ...placingHandlers(display) })

/** The windows of the applications whose name holds `app`, the front one first. */
const windowsOf = async (desktop: Desktop, app: string): Promise<Window[]> => {
  const windows = await desktop.windows()
  const matching = windows.filter(({ app_name }) => app_name.toLowerCase().includes(app.toLowerCase()))
  return matching.sort((one, other) => other.z_index - one.z_index)
}

/** What windows there are, and where. */
const readingHandlers = (display: Display) => {
  /** The window that a caller names, or the active one. */
  const windowOf = async ({ window_id }: WindowReference): Promise<Window> => find(await display.desktop(), window_id)
  return {
    get_current_window_id: async () => ({ window_id: (await windowOf({})).window_id }),
    async get_application_windows({ app }) {
      const windows = await windowsOf(await display.desktop(), app)
      return { windows: windows.map(({ window_id }) => window_id) }
    },
    async list_windows({ app = '' }) {
      const desktop = await display.desktop()
      const [windows, active] = await Promise.all([windowsOf(desktop, app), desktop.activeWindow()])
      return {
        windows: windows.map((window) => ({
          window_id: window.window_id,
          app_name: window.app_name,
          title: window.title,
          bounds: boundsOf(window),
          active: window.window_id === active,
        })),
      }
    },
    get_window_name: async (params) => ({ name: (await windowOf(params)).title }),
    async get_window_size(params) {
      const { width, height } = await windowOf(params)
      return { width, height, size: { width, height } }
    },
    async get_window_position(params) {
      const { x, y } = boundsOf(await windowOf(params))
      return { x, y, position: { x, y } }
    },
    async get_active_window_title() {
      const desktop = await display.desktop()
      const active = await desktop.activeWindow()
      const window = (await desktop.windows()).find(({ window_id }) => window_id === active)
      return { result: window?.title ?? '' }
    },
    get_active_window_bounds: async () => ({ bounds: boundsOf(await windowOf({})) }),
  } satisfies Handlers
}

/** What places, shows and closes windows. */
const placingHandlers = (display: Display) => {
  const doing = (act: (desktop: Desktop, windowId: number) => Promise<unknown>) => async (params: WindowReference) => {
    const desktop = await display.desktop()
    const { window_id } = await find(desktop, params.window_id)
    await act(desktop, window_id)
    return {}
  }
  const placing = async (params: WindowReference, place: Readonly<Record<string, number>>) => {
    const desktop = await display.desktop()
    const { window_id } = await find(desktop, params.window_id)
    await desktop.setFrame(window_id, place)
    return {}
  }
  return {
    set_window_size: ({ width, height, ...named }) => placing(named, { width, height }),
    set_window_position: ({ x, y, ...named }) => placing(named, { x, y }),
    set_window_bounds: ({ x, y, width, height, ...named }) => {
      const given = Object.entries({ x, y, width, height }).filter(
        (each): each is [string, number] => each[1] !== undefined,
      )
      if (given.length > 0) return placing(named, Object.fromEntries(given))
      throw new Failure('missing_argument', '"set_window_bounds" needs "x", "y", "width" or "height".', {
        argument: 'x',
      })
    },
    maximize_window: doing((desktop, id) => desktop.maximize(id)),
    minimize_window: doing((desktop, id) => desktop.minimize(id)),
    activate_window: doing(async (desktop, id) => {
      if (await desktop.activate(id)) return
      throw new Failure('window_manager_refused', `The window manager did not make window ${id} active.`, {
        window_id: id,
      })
    }),
    close_window: doing((desktop, id) => desktop.closeWindow(id, closeWaitMs)),
  } satisfies Handlers
}

const find = async (desktop: Desktop, named: number | string | undefined): Promise<Window> => {
  const id = named === undefined ? await desktop.activeWindow() : Number(named)
  const window = (await desktop.windows()).find(({ window_id }) => window_id === id)
  if (window !== undefined) return window
  throw named === undefined
    ? new Failure('window_not_found', 'No window is active; name one by its "window_id".')
    : new Failure('window_not_found', `No window has the id ${named}.`, { window_id: named })
}
