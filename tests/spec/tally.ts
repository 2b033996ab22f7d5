/** Which requirements this run proved, and what is wrong with the list: `bun tests/spec/tally.ts PROOFS [--verbose]`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requirements } from './index.ts'
import type { Requirement } from './requirement.ts'

/** The counts of one run, and its errors, each a finished sentence. */
export interface Tally {
  readonly proved: readonly string[]
  readonly deferred: readonly Requirement[]
  readonly open: readonly Requirement[]
  readonly errors: readonly string[]
}

/**
 * Counts `list` against the ids that tests cited and passed (`cited`).
 * Wrong are: an id that stands twice, an id that is cited and unknown, a deferral without a reason or of what is proved
 * all the same, and an id of `expected` that was not proved.
 */
export function tally(list: readonly Requirement[], cited: Iterable<string>, expected: readonly string[] = []): Tally {
  const proved = new Set(cited)
  const seen = new Set<string>()
  const errors: string[] = []
  for (const { id, deferred } of list) {
    if (seen.has(id)) errors.push(`requirement "${id}" stands twice: rename one`)
    if (deferred?.trim() === '') errors.push(`requirement "${id}" is deferred without a reason: give one`)
    if (deferred !== undefined && proved.has(id))
      errors.push(`requirement "${id}" is deferred and proved: drop its deferral`)
    seen.add(id)
  }
  for (const id of proved) if (!seen.has(id)) errors.push(`a test proves "${id}", which is no requirement`)
  for (const id of expected) {
    if (!proved.has(id)) errors.push(`requirement "${id}" was proved before and is not now: mend it or its test`)
  }
  return {
    proved: list.map((requirement) => requirement.id).filter((id) => proved.has(id)),
    deferred: list.filter((requirement) => requirement.deferred !== undefined),
    open: list.filter((requirement) => requirement.deferred === undefined && !proved.has(requirement.id)),
    errors,
  }
}

/** The line that ends a run: `requirements: P proved, D deferred, O open of T`. */
export function summary({ proved, deferred, open }: Tally): string {
  const total = proved.length + deferred.length + open.length
  return `requirements: ${proved.length} proved, ${deferred.length} deferred, ${open.length} open of ${total}`
}

const provedFile = join(import.meta.dir, 'proved.txt')

const lines = (file: string): string[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : []

/** The tally of the requirements against the proofs file of a run; `full` also expects all that is kept as proved. */
export const tallyOfRun = (proofsFile: string, full: boolean): Tally =>
  tally(requirements, lines(proofsFile), full ? lines(provedFile) : [])

/** Keeps the ids that a full run proved, so that a later run which loses one fails. */
export const keepProved = ({ proved }: Tally): void => writeFileSync(provedFile, proved.map((id) => `${id}\n`).join(''))

if (import.meta.main) {
  const [proofsFile = '', ...flags] = process.argv.slice(2)
  const result = tallyOfRun(proofsFile, false)
  if (flags.includes('--verbose')) {
    for (const { id, deferred } of result.deferred) console.log(`deferred ${id}: ${deferred}`)
    for (const { id, text } of result.open) console.log(`open ${id}: ${text}`)
  }
  for (const error of result.errors) console.log(error)
  console.log(summary(result))
  process.exit(result.errors.length > 0 ? 1 : 0)
}
