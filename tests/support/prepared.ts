/** What tests with VMs share and a run makes once, before tests whose changes to files are thrown away. */
import { existsSync, readFileSync } from 'node:fs'
import { findAcceleration } from './acceleration.ts'
import { adbPrograms, toyboxProgram } from './adb-programs.ts'
import { bundleClient } from './bundled-client.ts'
import { dockerPrograms } from './docker.ts'
import { buildAnewWhereBuilderChanged } from './image.ts'
import { npmComputer, npmWith } from './npm-with.ts'
import { packOnce } from './packed.ts'
import { prepareGuest } from './prepared-guest.ts'
import { pythonClients } from './python-packages.ts'
import { pythonWith } from './python-with.ts'

/** Whether a job has a guest that was booted before. */
const needsGuest = (name: string): boolean =>
  existsSync(name) && readFileSync(name, 'utf8').includes('/support/prepared-guest.ts')

/** Makes what is missing or out of date below `target` and the jobs of those names need; a moment where nothing is. */
export const prepare = async (jobs: readonly string[]): Promise<void> => {
  // Without a registry the tests that need it say so.
  const clients = Object.values(pythonClients).map((client) => pythonWith(...[client].flat()))
  const packages: Promise<unknown>[] = [
    ...clients,
    npmWith(npmComputer),
    adbPrograms(),
    toyboxProgram(),
    dockerPrograms(),
    bundleClient(),
  ].map((made) => made.catch(() => undefined))
  if (jobs.some((name) => name.includes('/packages'))) packages.push(packOnce())
  const guest = Promise.all([buildAnewWhereBuilderChanged(), findAcceleration()]).then(() =>
    jobs.some(needsGuest) ? prepareGuest() : undefined,
  )
  await Promise.all([guest, ...packages])
}
