/** The service on its socket. */
import { environment, screens, stopGrace } from '@backlot/contract/limits'
import type { Directories } from '@backlot/contract/places'
import { bearerKey, type ListeningServer, type Rules, listen as serve } from '@backlot/serve'
import { accelerationAt } from '../acceleration.ts'
import { consolePath } from '../console/pages.ts'
import type { HostSandboxes } from '../console/sandboxes.ts'
import { core } from '../core.ts'
import { openHost } from '../host/open-host.ts'
import type { Accelerator } from '../hypervisors/qemu/arguments.ts'
import { resumeTransfers } from '../images/resume.ts'
import { createApp } from './app.ts'
import { type Idle, IdleWatch } from './idle.ts'

export interface ListenOptions {
  /** An address of this machine, or `unix:PATH`. */
  readonly address: string
  /** 0 takes any free port; a Unix socket has none. */
  readonly port: number
  /** Asked of every caller; required beyond loopback. */
  readonly token?: string | undefined
  /** Names beside those of this machine under which it is reached beyond loopback. */
  readonly names?: readonly string[]
  /** Seconds that a guest has to shut down where who stops it does not say. */
  readonly stopGraceSeconds?: number
  readonly places: Directories
  /** What guests run on; what works here where absent. */
  readonly accelerator?: Accelerator | undefined
  /** When the service ends by itself; never where absent. */
  readonly idle?: Idle | undefined
  /** Path of the executable, for guests that run it; undefined where there is none. */
  readonly executable?: string | undefined
  /** The sandboxes that the console shows beside the VMs; none where it is absent. */
  readonly sandboxes?: HostSandboxes | undefined
  /** Takes a line for each request and each defect, without time and line end. */
  log(line: string): void
}

/** Starts the service. Throws `token_required`, `cannot_listen`, or `config_unreadable` where its settings are damaged. */
export const listen = ({
  token,
  stopGraceSeconds,
  places,
  accelerator: given,
  idle,
  executable,
  sandboxes,
  ...where
}: ListenOptions): Promise<ListeningServer> =>
  serve({ ...where, key: token, longestMessageBytes: screens.mostWaitingBytes, rules, native: core }, async () => {
    const stopGraceMs = (stopGraceSeconds ?? stopGrace.usualSeconds) * 1_000
    const accelerator = async () => given ?? (await accelerationAt(places)).accelerator
    const host = await openHost(places, accelerator, stopGraceMs, executable)
    // Whoever knows of one finds it again at the first answer.
    await resumeTransfers({ ...host, newLink: () => undefined })
    const isBusy = () => host.machines.count > 0 || host.operations.list().some(({ state }) => state === 'running')
    const watch = new IdleWatch(idle, isBusy)
    return {
      get guestPids() {
        return host.machines.pids
      },
      answersAt: ({ newLink, ...server }) => watch.counting(createApp({ ...host, newLink }, server, sandboxes)),
      async [Symbol.asyncDispose]() {
        watch[Symbol.dispose]()
        await host[Symbol.asyncDispose]()
      },
    }
  })

const rules: Rules = {
  keyIn: bearerKey,
  needsNoKey: () => false,
  pagePath: consolePath,
  realm: 'console',
  texts: {
    crossSite:
      'A page of another site may not use this service. Type the address of the console, or take its link from `backlot serve`.',
    fromGuest:
      'A guest of this machine may not use the service. Where it is meant to, start the service with --token-file and give it the token.',
    unauthorized: 'This service asks for its token; send it as `Authorization: Bearer TOKEN`.',
    keyRequired: `give the service a token with --token-file or ${environment.hostToken}.`,
  },
}
