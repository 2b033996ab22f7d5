/** Whether a value that was set by devices is there. */
import { valueAppearsMs } from '@backlot/contract/limits'
import type { Evidence } from '../action/evidence.ts'
import type { ElementTarget } from '../action/target.ts'
import type { Call } from '../context.ts'
import { readUntil } from '../observation/read-until.ts'
import type { Setting } from './setting.ts'

/** Reads until the value is as wanted, for a short while. */
export const readBack = async (
  call: Call,
  { window: { pid } }: ElementTarget,
  route: string,
  evidence: readonly Evidence[],
  read: () => Promise<{ readonly value: string | null; readonly confirmed: boolean }>,
): Promise<Setting> => {
  const answer = await readUntil(call, pid, valueAppearsMs, read, ({ confirmed }) => confirmed)
  return { route, evidence, ...answer }
}
