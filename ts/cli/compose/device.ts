/** A computer server put together for an Android device, which it reaches through the local adb server. */
import { adbAddressOf, deviceRoutes, listenComputer, Person, ServedDevice, Terminals } from '@backlot/computer'
import type { Listening } from '@backlot/serve'
import type { ComputerOptions } from './computer.ts'

/** What differs from a desktop: which device of `adb devices`; the only one when absent. */
export type DeviceServerOptions = Omit<ComputerOptions, 'desktop' | 'session' | 'viewPort'> & {
  readonly serial: string | undefined
}

/** Starts it; it answers before the device has booted. Disposing of it leaves the device and the adb server as they are. */
export const startDeviceServer = async ({ serial, ...listening }: DeviceServerOptions): Promise<Listening> => {
  await using opening = new AsyncDisposableStack()
  const served = opening.use(new ServedDevice({ address: adbAddressOf(process.env), serial, log: listening.log }))
  const server = opening.use(
    await listenComputer({
      ...listening,
      backend: served.backend,
      osType: 'android',
      terminals: new Terminals(),
      // Each device has a brake of its own.
      person: new Person(() => ({ ...process.env, DISPLAY: `android-${serial ?? 'device'}` })),
      machine: deviceRoutes(served.device),
      percent: () => served.percent,
    }),
  )
  const opened = opening.move()
  return { url: server.url, newLink: server.newLink, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
