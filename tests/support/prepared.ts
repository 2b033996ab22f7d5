/** What tests with VMs share and a run makes once, before tests whose changes to files are thrown away. */
import { findAcceleration } from './acceleration.ts'
import { buildAnewWhereBuilderChanged } from './image.ts'
import { pythonClients } from './python-packages.ts'
import { pythonWith } from './python-with.ts'

/** Makes what is missing or out of date below `target`; a moment where nothing is. */
export const prepare = async (): Promise<void> => {
  // Without a registry the tests that need it say so.
  const clients = Object.values(pythonClients).map((client) => pythonWith(client).catch(() => undefined))
  await Promise.all([buildAnewWhereBuilderChanged(), findAcceleration(), ...clients])
}
