/** A computer server put together for an Android device, which it reaches through the local adb server. */
import { readFileSync } from 'node:fs'
import {
  adbAddressOf,
  deviceFilmRoutes,
  deviceRoutes,
  Person,
  type RouteGroup,
  ServedDevice,
  viewRoutes,
} from '@backlot/computer'
import { Failure } from '@backlot/contract/failure'
import type { PrivateDesktop } from '@backlot/headless'
import type { ComputerOptions, RunningComputer } from './computer.ts'
import { keepRunning } from './desktop-session.ts'
import { listenWithView } from './listening.ts'
import { screenOf, serveDesktops } from './served-desktops.ts'

/** What differs from a desktop: which device of `adb devices`; the only one when absent. */
export interface DeviceServerOptions extends ComputerOptions {
  readonly serial: string | undefined
  /** A file whose text says why no device answers yet, such as what its emulator waits for. */
  readonly bootReason: string | undefined
}

/**
 * Starts it; it answers before the device has booted. Its private desktop is the one whose screen shows the device, as the
 * window of an emulator does. Disposing of it ends that desktop, and leaves the device and the adb server as they are.
 */
export const startDeviceServer = async (options: DeviceServerOptions): Promise<RunningComputer> => {
  const { serial, bootReason, desktop: size, session, viewPort, xServer, ...listening } = options
  await using opening = new AsyncDisposableStack()
  const why = () => (bootReason === undefined ? undefined : textOf(bootReason))
  const served = opening.use(
    new ServedDevice({ address: adbAddressOf(process.env), serial, bootReason: why, log: listening.log }),
  )
  // Each device is paused by itself.
  const person = new Person(() => ({ ...process.env, DISPLAY: `android-${serial ?? 'device'}` }))
  let desktop: PrivateDesktop | undefined
  const begin = async (begun: PrivateDesktop) => {
    desktop = begun
    for (const program of session?.programs ?? []) void keepRunning(begun, program, options.log)
  }
  const end = async () => {
    desktop = undefined
  }
  const desktops =
    size === undefined
      ? undefined
      : opening.use(serveDesktops({ size, menu: session?.menu, xServer, begin, end, log: options.log }))
  desktops?.failed.catch((error: unknown) => served.backend.fail(Failure.from(error)))
  const film = opening.use(deviceFilmRoutes(served.device))
  const groups: RouteGroup[] = [film, ...(size === undefined ? [] : [viewRoutes(person, () => screenOf(desktop))])]
  const parts = {
    ...listening,
    backend: served.backend,
    osType: 'android',
    terminals: served.terminals,
    person,
    machine: deviceRoutes(served.device),
    percent: () => served.percent,
  } as const
  const reached = await listenWithView(opening, { ...parts, groups }, viewPort)
  const opened = opening.move()
  return {
    ...reached,
    failed: desktops?.failed ?? new Promise<never>(() => {}),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** The text of a small file on one line; undefined where it holds none. */
const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8').trim().replace(/\s+/g, ' ').slice(0, longestReason) || undefined
  } catch {
    return undefined
  }
}

/** Characters of a reason. */
const longestReason = 500
