/** A computer server on its socket. */
import { longestComputerMessageBytes } from '@backlot/contract/computer/limits'
import * as native from '@backlot/native'
import { type Key, type Listening, listen as listenAt } from '@backlot/serve'
import { AbilityProbe } from './abilities.ts'
import type { Backend } from './backend.ts'
import type { Computer } from './command/run.ts'
import type { Current } from './current.ts'
import { docsRoutes } from './docs/routes.ts'
import { fileRoutes } from './files/routes.ts'
import { createApp } from './http/app.ts'
import { rules } from './http/rules.ts'
import type { Person } from './person.ts'
import { allEnded } from './processes.ts'
import { ptyRoutes } from './pty/routes.ts'
import type { Terminals } from './pty/terminals.ts'
import type { Room } from './room.ts'
import { endRunning } from './shell/running.ts'
import { tunnelRoutes } from './tunnel/routes.ts'

export interface ComputerServerOptions {
  /** An address of this machine, or `unix:PATH`. */
  readonly address: string
  /** 0 takes any free port; a Unix socket has none. */
  readonly port: number
  /** Asked of every caller; required beyond loopback, unless the server is open. A function gives the one of the moment. */
  readonly key?: Key | undefined
  /** Listens beyond loopback without a key too. */
  readonly isOpen?: boolean
  /** Names beside those of this machine under which it is reached beyond loopback. */
  readonly names?: readonly string[]
  /** The port of 127.0.0.1 from which somebody leads callers to the Unix socket. */
  readonly forwardedPort?: number | undefined
  /** What carries out the commands, once it can; who opened it closes it. */
  readonly backend: Current<Backend>
  readonly osType: 'linux' | 'android'
  readonly terminals: Terminals
  readonly person: Person
  /** The routes of files and tunnels, where those of this machine are not meant. */
  readonly machine?: Room['routes'] | undefined
  /** Percent of the way to a computer that can be used, where that is known. */
  readonly percent?: (() => number) | undefined
  /** Routes that others bring, and the features that they stand for. */
  readonly rooms?: readonly Room[]
  /** Takes a line for each request and each defect, without time and line end. */
  log(line: string): void
}

/** Starts a computer server; it answers from then on, also while its backend still starts. */
export const listenComputer = (options: ComputerServerOptions): Promise<Listening> => {
  const { backend, machine, osType, percent, person, rooms = [], terminals, log } = options
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
  const brought = (tried: Parameters<Room['features']>[0]) =>
    Object.assign({}, ...rooms.map((room) => room.features(tried)))
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
        createApp({ abilities, computer, rooms: [...own, ...rooms.map(({ routes }) => routes)] }, server),
      async [Symbol.asyncDispose]() {
        await terminals[Symbol.asyncDispose]()
        await endRunning()
        await allEnded()
        person[Symbol.dispose]()
      },
    }),
  )
}
