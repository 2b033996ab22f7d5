/** A computer server on its socket. */
import { longestComputerMessageBytes } from '@backlot/contract/computer/limits'
import * as native from '@backlot/native'
import { type ListeningServer, type ListenOptions, listen as listenAt } from '@backlot/serve'
import { AbilityProbe } from './abilities.ts'
import type { Backend } from './backend.ts'
import type { Computer } from './command/run.ts'
import { docsRoutes } from './docs/routes.ts'
import { fileRoutes } from './files/routes.ts'
import { createApp } from './http/app.ts'
import { rules } from './http/rules.ts'
import type { Person } from './person.ts'
import { allEnded } from './processes.ts'
import { ptyRoutes } from './pty/routes.ts'
import type { Terminals } from './pty/terminals.ts'
import type { Replaceable } from './replaceable.ts'
import type { RouteGroup } from './route-group.ts'
import { endRunning } from './shell/running.ts'
import { tunnelRoutes } from './tunnel/routes.ts'

/** Where it listens and whom it admits, and what it serves. */
export interface ComputerServerOptions
  extends Pick<ListenOptions, 'address' | 'port' | 'key' | 'isOpen' | 'names' | 'forwardedPort' | 'log'> {
  /** What carries out the commands, once it can; who opened it closes it. */
  readonly backend: Replaceable<Backend>
  readonly osType: 'linux' | 'android'
  readonly terminals: Terminals
  readonly person: Person
  /** The routes of files and tunnels, where those of this machine are not meant. */
  readonly machine?: RouteGroup['routes'] | undefined
  /** Percent of the way to a computer that can be used, where that is known. */
  readonly percent?: (() => number) | undefined
  /** Routes that others bring, and the features that they stand for. */
  readonly groups?: readonly RouteGroup[]
}

/** Starts a computer server; it answers from then on, also while its backend still starts. */
export const listenComputer = (options: ComputerServerOptions): Promise<ListeningServer> => {
  const { backend, machine, osType, percent, person, groups = [], terminals, log } = options
  const report = (defect: unknown) => log(`defect: ${Bun.inspect(defect)}`)
  const computer = async (): Promise<Computer> => ({
    backend: await backend.get(),
    during: (signal, action) => person.during(signal, action),
    report,
  })
  // What commands hold down is not the person's.
  person.follow(() => {
    if (!person.hasTakenOver || backend.phase !== 'ready') return
    void backend
      .get()
      .then((opened) => opened.releaseHeld())
      .catch(report)
  })
  const brought = (tried: Parameters<RouteGroup['features']>[0]) =>
    Object.assign({}, ...groups.map((group) => group.features(tried)))
  const abilities = new AbilityProbe(osType, backend, brought, percent)
  const own = [
    docsRoutes,
    ...(machine === undefined ? [fileRoutes, tunnelRoutes] : [machine]),
    ptyRoutes(terminals, backend),
  ]
  return listenAt(
    { ...options, longestMessageBytes: longestComputerMessageBytes, rules, native: () => native },
    async () => ({
      guestPids: [],
      answersAt: (server) =>
        createApp({ abilities, computer, groups: [...own, ...groups.map(({ routes }) => routes)] }, server),
      async [Symbol.asyncDispose]() {
        await terminals[Symbol.asyncDispose]()
        await endRunning()
        await allEnded()
        person[Symbol.dispose]()
      },
    }),
  )
}
