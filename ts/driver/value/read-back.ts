/** Whether a value that was set by devices is there. */
import { valueAppearsMs } from '@backlot/contract/limits'
import type { Evidence } from '../action/evidence.ts'
import type { ElementTarget } from '../action/target.ts'
import type { Call } from '../context.ts'
import type { Setting } from './setting.ts'

/** Reads until the value is as wanted, for a short while. */
export const readBack = async (
  call: Call,
  { window: { pid } }: ElementTarget,
  route: string,
  evidence: readonly Evidence[],
  read: () => Promise<{ readonly value: string | null; readonly confirmed: boolean }>,
): Promise<Setting> => {
  const accessibility = await call.driver.accessibility()
  const deadline = performance.now() + valueAppearsMs
  for (;;) {
    const events = accessibility.generation(pid)
    const now = await read()
    const remaining = deadline - performance.now()
    if (now.confirmed || remaining <= 0 || call.signal.aborted) return { route, evidence, ...now }
    await accessibility.waitForEvent(pid, events, Math.ceil(Math.min(remaining, 50)))
  }
}
