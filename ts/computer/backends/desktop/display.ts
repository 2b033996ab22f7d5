/** The display that the commands act on: each connection to it opened when first needed, and again after it was lost. */
import { addAbortListener } from 'node:events'
import type { Failure } from '@backlot/contract/failure'
import { Queue } from '@backlot/contract/queue'
import { type Shared, shared } from '@backlot/contract/shared'
import type { Accessibility, Capturer, CoreDevices, Desktop } from '@backlot/native'

/** Connections to one display; disposing of it lets go of the keys and buttons that are held down. */
export interface Display extends AsyncDisposable {
  desktop(): Promise<Desktop>
  /**
   * Does work with the person's own pointer and keyboard, of which there is one: after all that was asked before. When
   * the signal aborts the work is halted, and the signal's reason is thrown.
   */
  act<T>(signal: AbortSignal, work: (devices: CoreDevices) => Promise<T>): Promise<T>
  /** Lets go of the keys and buttons that are held down. */
  releaseHeld(): Promise<void>
  /** Opens the pointer and keyboard without using them. */
  tryDevices(): Promise<void>
  capturer(): Promise<Capturer>
  accessibility(): Promise<Accessibility>
  /** Closes what a failure says is lost, so that the next call opens it again. */
  heed(failure: Failure): Promise<void>
}

/** The display that the environment of this process names. */
export const openDisplay = (): Display => {
  const native = () => import('@backlot/native')
  const desktop = shared(async () => (await native()).Desktop.open())
  const devices = shared(async () => (await native()).CoreDevices.open(await desktop.get()))
  const capturer = shared(async () => (await native()).Capturer.open(await desktop.get()))
  const accessibility = shared(async () =>
    (await native()).Accessibility.open(null, await desktop.get().catch(() => null)),
  )
  const actions = new Queue()
  const act = async <T>(signal: AbortSignal, work: (opened: CoreDevices) => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    const opened = await devices.get()
    signal.throwIfAborted()
    using _cancelling = addAbortListener(signal, () => opened.cancel())
    try {
      return await work(opened)
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }
  const close = async (connections: readonly Shared<unknown>[]): Promise<void> => {
    for (const connection of connections) await connection.close()
  }
  return {
    desktop: desktop.get,
    act: (signal, work) => actions.run(() => act(signal, work)),
    releaseHeld: async () => (await devices.peek())?.releaseAll(),
    tryDevices: async () => void (await devices.get()),
    capturer: capturer.get,
    accessibility: accessibility.get,
    async heed({ code }) {
      if (code === 'display_lost') await close([devices, capturer, desktop])
      if (code === 'accessibility_failed') await close([accessibility])
    },
    async [Symbol.asyncDispose]() {
      await close([devices, capturer, desktop, accessibility])
    },
  }
}
