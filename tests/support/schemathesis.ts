/** What schemathesis finds wrong with a server of ours by its own OpenAPI document, apart from this machine. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pythonClients } from './python-packages.ts'
import { pythonWith } from './python-with.ts'

const apart = join(import.meta.dir, 'apart')

/** Whether what is made up for a server can be kept apart from this machine. */
export const canRunSchemathesis = (): boolean => Bun.spawnSync([apart, '--probe']).success

/** What it found. */
export interface Findings {
  /** Requests that it made up. */
  readonly cases: number
  /** What the server reported of itself. */
  readonly defects: readonly string[]
}

/** Runs it against a fresh server. Throws what it says where it is not content. */
export const runSchemathesis = async (server: 'vmhost' | 'computer'): Promise<Findings> => {
  const python = await pythonWith(pythonClients.schemathesis)
  const keep = await mkdtemp(join(tmpdir(), 'backlot-schema-'))
  const seed = String(crypto.getRandomValues(new Uint32Array(1))[0])
  const run = [process.execPath, join(import.meta.dir, 'schema-run.ts'), join(dirname(python), 'schemathesis')]
  const child = Bun.spawn([apart, keep, ...run, seed, server], { stdout: 'pipe', stderr: 'inherit' })
  const found = JSON.parse(await child.stdout.text()) as Findings & { status: number; said: string }
  await rm(keep, { recursive: true })
  if (found.status !== 0) throw new Error(`with the seed ${seed}: ${found.said}`)
  return found
}
