/** A desktop as the computer: the display, shell and files of this process. */
import { Failure } from '@backlot/contract/failure'
import type { Backend, Handlers } from '../../backend.ts'
import { fileHandlers } from '../../files/commands.ts'
import { terminalHandlers } from '../../pty/commands.ts'
import { refuseTerminals } from '../../pty/local-program.ts'
import type { Terminals } from '../../pty/terminals.ts'
import { shellHandlers } from '../../shell/commands.ts'
import { accessibilityHandlers } from './accessibility.ts'
import { clipboardHandlers } from './clipboard.ts'
import { openDisplay } from './display.ts'
import { keyboardHandlers } from './keyboard.ts'
import { pointerHandlers } from './pointer.ts'
import { screenHandlers } from './screen.ts'
import { systemHandlers } from './system.ts'
import { windowHandlers } from './windows.ts'

/** The desktop that this process's environment names; nothing is connected before the first command that needs it. */
export const desktopBackend = (terminals: Terminals): Backend => {
  const display = openDisplay()
  const onDisplay = {
    ...systemHandlers(display),
    ...screenHandlers(display),
    ...pointerHandlers(display),
    ...keyboardHandlers(display),
    ...clipboardHandlers(display),
    ...windowHandlers(display),
    ...accessibilityHandlers(display),
  }
  return {
    osType: 'linux',
    handlers: {
      ...heeding(onDisplay, display.heed),
      ...shellHandlers,
      ...fileHandlers,
      ...terminalHandlers(terminals),
    },
    async probe() {
      const works = async (open: () => Promise<unknown>): Promise<true | string> =>
        open().then(
          () => true as const,
          (error: unknown) => Failure.from(error).message,
        )
      const [screen, devices, accessibility] = await Promise.all([
        works(async () => (await display.capturer()) && (await display.desktop()).screen()),
        works(display.tryDevices),
        works(async () => (await display.accessibility()).applications()),
      ])
      return {
        display: screen,
        input: devices,
        accessibility,
        clipboard: screen,
        windows: screen === true ? await works(async () => managed(await (await display.desktop()).probe())) : screen,
        shell: true,
        files: true,
        pty: await works(async () => refuseTerminals()),
      }
    },
    releaseHeld: () => display.releaseHeld(),
    [Symbol.asyncDispose]: () => display[Symbol.asyncDispose](),
  }
}

const managed = ({ window_manager }: { window_manager: string | null }): void => {
  if (window_manager === null) throw new Failure('window_manager_refused', 'no window manager runs on the display')
}

/** The handlers, after whose failures lost connections are closed. */
const heeding = (handlers: Handlers, heed: (failure: Failure) => Promise<void>): Handlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      async (params: never, call: never) => {
        try {
          return await (handle as (params: never, call: never) => Promise<unknown>)(params, call)
        } catch (error) {
          await heed(Failure.from(error))
          throw error
        }
      },
    ]),
  ) as Handlers
