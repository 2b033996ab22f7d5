/** Which runtime of this machine starts a sandbox when nobody says. */
import { UnavailableError } from '../../errors.ts'
import { bounded } from '../../runtimes/bounded.ts'
import { runtimeOf } from '../../runtimes/known.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import { ofThisMachine, type RuntimeName, runtimes } from '../../runtimes/table.ts'
import { checkFeatures, isImage } from '../checks.ts'
import type { SandboxOptions, Source } from '../options.ts'
import { limitsOf } from '../refusals.ts'

/** A snapshot's own, else the first that is there and can start it; throws `runtime_unavailable` that says why none is. */
export const fittingRuntime = async (source: Source, options: SandboxOptions): Promise<Runtime> => {
  const own = isImage(source) ? undefined : runtimeOf({ runtime: source.source })
  if (own !== undefined) return own
  const reasons: string[] = []
  for (const name of orderFor(source)) {
    const runtime = bounded(runtimes[name]())
    const check = await runtime.check(limitsOf(options))
    if (!check.available) {
      reasons.push(`${name}: ${check.reason}`)
      continue
    }
    try {
      checkFeatures(name, check.features, source, options)
      return runtime
    } catch (error) {
      reasons.push(`${name}: ${(error as Error).message}`)
    }
  }
  throw new UnavailableError(
    'runtime_unavailable',
    `No runtime of this machine can start it. ${reasons.join(' ')} Name another with "runtime", or connect by address.`,
    { data: { reasons } },
  )
}

/** A container goes to the engine if it answers; a desktop of any kind to what starts it quickest. */
const orderFor = (source: Source): readonly RuntimeName[] => {
  const isContainer = isImage(source) && (source.kind === 'container' || source.distro === 'registry')
  return isContainer ? ['container', ...ofThisMachine.filter((name) => name !== 'container')] : ofThisMachine
}
