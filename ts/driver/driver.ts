/** A driver: the connections to one desktop, each opened when first needed, and what was last seen there. */
import { pauseFileOf } from '@backlot/contract/display'
import type { Failure } from '@backlot/contract/failure'
import { Queue } from '@backlot/contract/queue'
import { shared } from '@backlot/contract/shared'
import { settleAll } from '@backlot/contract/work/settle-all'
import type { Accessibility, AppQueues, Capturer, Desktop } from '@backlot/native'
import { PauseSwitch } from '@backlot/native/pause-switch'
import { StopKeyWatch } from '@backlot/native/stop-key'
import { LateEffects } from './action/late-effects.ts'
import { ConfigFile, configFileAt } from './config/config.ts'
import { WindowCache } from './observation/elements.ts'
import { FocusedElements } from './observation/focused-elements.ts'
import { ZoomedWindows } from './observation/zoomed.ts'
import { Browsers } from './page/browsers.ts'
import { Secrets } from './secrets/secrets.ts'
import { Agents } from './session/agents.ts'
import { Cursors } from './session/cursors.ts'
import { previewPlace } from './session/preview.ts'
import { Sessions } from './session/sessions.ts'

/** Which desktop; what is absent comes from the environment. */
export interface DriverOptions {
  /** The X display, `:N`; otherwise `$DISPLAY`. */
  readonly display?: string
  /** Address of the session bus; otherwise the environment's. */
  readonly busAddress?: string
  /** The configuration file; otherwise the one of the configuration folder. */
  readonly configFile?: string
  /** The file that stands while the person has paused; otherwise the one of the display. */
  readonly pauseFile?: string
  /** False: no cursor of an agent is ever shown. */
  readonly overlay?: boolean
}

/** Everything the tools act through. */
export interface Driver extends AsyncDisposable {
  readonly config: ConfigFile
  readonly windowCache: WindowCache
  /** What nothing that is written, logged or answered may hold. */
  readonly secrets: Secrets
  readonly zoomed: ZoomedWindows
  desktop(): Promise<Desktop>
  capturer(): Promise<Capturer>
  accessibility(): Promise<Accessibility>
  /** The person's: halts all actions. */
  readonly pauseSwitch: PauseSwitch
  /** Runs an action that a pause and the stop key halt; throws `paused_by_person` while the person has paused. */
  unlessPaused<T>(signal: AbortSignal, action: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Watches for the configured stop key before the first action too. */
  watchStopKey(): Promise<void>
  /** Whether others have the clipboard's content from this process. */
  holdsClipboard(): Promise<boolean>
  /** Who calls, each with an agent and a configuration of its own. */
  readonly sessions: Sessions
  /** Whether applications have handled what was sent to them. */
  queues(): Promise<AppQueues>
  /** What comes of actions after they were answered. */
  readonly lateEffects: LateEffects
  /** Where keys go within windows that are not active. */
  readonly focusedElements: FocusedElements
  /** Every session's own pointer and keyboard. */
  readonly agents: Agents
  /** What shows where each session acts. */
  readonly cursors: Cursors
  /** Debuggers' connections to the browsers on the desktop. */
  readonly browsers: Browsers
  /** The native core's functions that need no desktop. */
  native(): Promise<typeof import('@backlot/native')>
  /** Lets go of what a failure says is lost, so that the next call opens it again. */
  dropLost(failure: Failure): void
}

/** What a driver opens when it is first needed, and the person's pause. */
const connectionsOf = (options: DriverOptions) => {
  // Loaded at the first call: listing tools needs no binding.
  const native = () => import('@backlot/native')
  const desktop = shared(async () => {
    const { Desktop, sweepAgents } = await native()
    const opened = await Desktop.open(options.display ?? null)
    // A display without XInput has no agents to sweep, and windows can be listed all the same.
    await sweepAgents(opened.display).catch(() => [])
    return opened
  })
  const capturer = shared(async () => (await native()).Capturer.open(await desktop.get()))
  const agents = new Agents(async () => (await native()).Agent.open(await desktop.get(), 'backlot'))
  const queues = shared(async () => (await native()).AppQueues.of(await desktop.get()))
  const accessibility = shared(async () => {
    // Without a display there are still applications to be listed.
    const on = await desktop.get().catch(() => null)
    return (await native()).Accessibility.open(options.busAddress ?? null, on)
  })
  const config = new ConfigFile(options.configFile ?? configFileAt(process.env))
  const env = options.display === undefined ? process.env : { ...process.env, DISPLAY: options.display }
  const pauseSwitch = new PauseSwitch(options.pauseFile ?? pauseFileOf(env))
  const stopKey = new StopKeyWatch(
    pauseSwitch,
    async () => (await config.read()).stop_key,
    async (combination) => (await native()).StopKey.watch(await desktop.get(), combination),
  )
  // What changes later is for the next daemon.
  const startedWith = config.read()
  startedWith.catch(() => undefined)
  const cursors = new Cursors(
    native,
    async () => (await native()).Cursors.open(await desktop.get()),
    options.overlay !== false,
    async () => {
      const { experimental_pip, experimental_pip_geometry } = await startedWith
      return experimental_pip
        ? previewPlace(experimental_pip_geometry, await (await desktop.get()).screen())
        : undefined
    },
  )
  return { native, desktop, capturer, agents, queues, accessibility, config, pauseSwitch, stopKey, cursors }
}

/** Sessions, and what is remembered of each until it ends. */
const rememberedOf = (agents: Agents, cursors: Cursors) => {
  const windowCache = new WindowCache()
  const zoomed = new ZoomedWindows()
  const sessions = new Sessions()
  sessions.follow({
    ended({ key }) {
      windowCache.forgetScales(key)
      zoomed.forget(key)
      return agents.release(key)
    },
  })
  sessions.follow({ ended: (session) => cursors.end(session) })
  const lateEffects = new LateEffects()
  sessions.follow({ ended: async ({ key }) => lateEffects.forget(key) })
  return { sessions, windowCache, zoomed, lateEffects }
}

/** Opens a driver; nothing is connected before the first call that needs it. */
export const openDriver = async (options: DriverOptions = {}): Promise<Driver> => {
  const { native, desktop, capturer, agents, queues, accessibility, config, pauseSwitch, stopKey, cursors } =
    connectionsOf(options)
  const { sessions, windowCache, zoomed, lateEffects } = rememberedOf(agents, cursors)
  const onDisplay = [stopKey, agents, cursors, queues, capturer, desktop]
  const browsers = new Browsers()
  return {
    config,
    windowCache,
    secrets: new Secrets(),
    pauseSwitch,
    holdsClipboard: async () => (await desktop.peek())?.clipboardIsHeld() ?? false,
    watchStopKey: () => stopKey.follow(),
    async unlessPaused(signal, action) {
      await stopKey.follow()
      return pauseSwitch.during(signal, action)
    },
    zoomed,
    native,
    desktop: desktop.get,
    capturer: capturer.get,
    accessibility: accessibility.get,
    queues: queues.get,
    lateEffects,
    focusedElements: new FocusedElements(),
    agents,
    cursors,
    sessions,
    browsers,
    dropLost(failure) {
      if (failure.code !== 'display_lost') return
      windowCache.clear()
      zoomed.clear()
      lateEffects.clear()
      for (const connection of onDisplay) connection.close().catch(() => undefined)
    },
    async [Symbol.asyncDispose]() {
      lateEffects.close()
      windowCache.clear()
      pauseSwitch[Symbol.dispose]()
      const inOrder = new Queue()
      const ends = [sessions, browsers, ...onDisplay, accessibility]
      await settleAll(ends.map((each) => inOrder.run(() => each.close())))
    },
  }
}
