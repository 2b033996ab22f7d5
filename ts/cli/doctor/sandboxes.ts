/** Which sandboxes the runtimes start here, and what brings stronger ones. */
import { findLevels } from '@backlot/local'
import { runtimes } from '@backlot/sdk'
import { nameToSdk } from '../executable.ts'
import { type CheckResult, limited, missing, works } from './finding.ts'

export const sandboxes = async (): Promise<CheckResult> => {
  nameToSdk()
  const [levels, engine, service, qemu] = await Promise.all([
    findLevels(),
    ...[runtimes.container().check(), runtimes.vmhost().check(), runtimes.qemu().check()],
  ] as const)
  // What nobody gets unasked is no sandbox.
  const best = levels.find(({ level, works }) => works && level !== 'none')
  const mend = levels.find(({ works, remedy }) => !works && remedy !== null)?.remedy ?? null
  const others = levels
    .filter(({ level, works }) => !works || level === 'none')
    .map(({ level, reason }) => `${level}: ${reason}`)
  const containers = engine.available
    ? 'Images of kind "container" start in the container engine, others by `local`.'
    : `All start by \`local\`: ${engine.reason}`
  const machines = service.available
    ? 'VMs start in the service that answers (`vmhost`).'
    : qemu.available
      ? 'VMs start by `qemu`.'
      : `None is a VM: ${qemu.reason}`
  const beside = `${containers} ${machines}`
  if (best === undefined) return missing(`${others.join(' ')} ${beside}`, mend ?? 'backlot local levels')
  const detail = `Isolated by ${best.level}. ${best.reason} ${beside}`
  if (best.level === 'own-root') return works(detail)
  const root = levels.find(({ level }) => level === 'own-root')
  // Nothing is amiss without a root: it is what installs packages in sandboxes.
  if (best.level === 'host-programs') {
    return works(root?.remedy == null ? detail : `${detail} For packages of their own: ${root.remedy}`)
  }
  return mend === null ? works(detail) : limited(`${detail} ${others.join(' ')}`, mend)
}
