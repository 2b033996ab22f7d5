/** A compositor that draws a display. */
import type { TestDesktop } from './desktop.ts'
import { until } from './until.ts'
import { displayState } from './witness/index.ts'

/**
 * Starts picom without shadows and fading, and with more `flags`; the display is its own once this resolves, and nobody's
 * when it is disposed of.
 */
export const compositorOn = async (on: TestDesktop, ...flags: string[]): Promise<AsyncDisposable> => {
  const isComposited = async () => (await displayState(on)).is_composited
  const picom = on.start(['picom', '--backend', 'xrender', '--config', '/dev/null', ...flags])
  await until('the compositor', isComposited)
  return {
    async [Symbol.asyncDispose]() {
      picom.kill()
      await picom.exited
      await until('the display without a compositor', async () => !(await isComposited()))
    },
  }
}
