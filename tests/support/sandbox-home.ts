/** A home of its own for the state of sandboxes, and a runtime whose processes end with the test. */
import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configure } from '@backlot/sdk'
import { backlotCommand } from './backlot.ts'
import { ProcessRuntime } from './process-runtime.ts'

/** Where a test keeps its sandboxes. */
export interface SandboxHome {
  /** `BACKLOT_HOME`. */
  readonly folder: string
  /** Folder of the state files. */
  readonly states: string
  readonly runtime: ProcessRuntime
  /** Does something at the end of the test, before the folder is removed. */
  atEnd(work: () => Promise<void>): void
}

const names = ['BACKLOT_HOME', 'BACKLOT_API_KEY', 'BACKLOT_BASE_URL'] as const

/** Lets this program keep its sandboxes in a folder of the test, with nothing configured. */
export const sandboxHome = (environment: Partial<Record<(typeof names)[number], string>> = {}): SandboxHome => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-sandboxes-'))
  const before = names.map((name) => [name, process.env[name]] as const)
  const set = (values: readonly (readonly [string, string | undefined])[]) => {
    for (const [name, value] of values) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  set(names.map((name) => [name, environment[name]]))
  process.env.BACKLOT_HOME = folder
  const reset = () => configure({ apiKey: undefined, baseUrl: undefined, runtime: undefined })
  reset()
  const runtime = new ProcessRuntime(join(folder, 'processes'), backlotCommand())
  const works: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const work of works) await work()
    await runtime.endAll()
    reset()
    set(before)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return { folder, states: join(folder, 'state', 'sandboxes'), runtime, atEnd: (work) => void works.push(work) }
}
