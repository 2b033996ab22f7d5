/** Our programs for Android devices under this machine's Java, with stand-ins for the classes of Android that journal what arrives. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  compileJava,
  type DeviceProgram,
  devicePrograms,
  fakesIn,
  hashOf,
  sourcesIn,
} from '../../ts/cli/generated/android-dex.ts'

const root = join(import.meta.dir, '../..')
const kept = join(root, 'target/clients')

/** Puts both into a folder, compiled; what was compiled once is kept. */
export const compileFakeAgent = (folder: string): void => {
  cpSync(compiledWithFakes(devicePrograms.agent), folder, { recursive: true })
}

/** The folder of a program's classes, with its stand-ins for those of Android. */
export const compiledWithFakes = (program: DeviceProgram): string => {
  const compiled = join(kept, `fake-${program.sources}-${hashOf(root, program).slice(0, 12)}`)
  if (existsSync(compiled)) return compiled
  mkdirSync(kept, { recursive: true })
  const made = mkdtempSync(`${compiled}.`)
  compileJava([...sourcesIn(root, program), ...fakesIn(root, program)], made)
  try {
    renameSync(made, compiled)
  } catch {
    // Whoever was quicker made the same.
    rmSync(made, { recursive: true })
  }
  return compiled
}
