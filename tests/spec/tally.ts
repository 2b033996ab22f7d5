/** Which requirements this run proved, and what is wrong with the list: `bun tests/spec/tally.ts PROOFS [--verbose]`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requirements } from './index.ts'
import type { Requirement } from './requirement.ts'

/** The counts of one run, and its errors, each a finished sentence. */
export interface Tally {
  readonly proved: readonly string[]
  readonly decided: readonly Requirement[]
  readonly deferred: readonly Requirement[]
  readonly open: readonly Requirement[]
  readonly errors: readonly string[]
}

/** The states that a row gives a requirement, each with its reason; no test proves what is in one. */
const stated = ['decided', 'deferred'] as const

const isStated = (requirement: Requirement): boolean => stated.some((state) => requirement[state] !== undefined)

const problemsOf = (requirement: Requirement, proved: boolean): string[] => {
  const { id, decided, deferred } = requirement
  const problems: string[] = []
  for (const state of stated) {
    const reason = requirement[state]
    if (reason?.trim() === '') problems.push(`requirement "${id}" is ${state} without a reason: give one`)
    if (reason !== undefined && proved)
      problems.push(`requirement "${id}" is ${state} and proved: drop "${state}" from its row`)
  }
  if (decided !== undefined && deferred !== undefined)
    problems.push(`requirement "${id}" is decided and deferred: keep one of them`)
  return problems
}

/**
 * Counts `list` against the ids that tests cited and passed (`cited`).
 * Wrong are: an id that stands twice, an id that is cited and unknown, a requirement that is decided or deferred without
 * a reason, both at once, or proved all the same, and an id of `expected` that was not proved.
 */
export function tally(list: readonly Requirement[], cited: Iterable<string>, expected: readonly string[] = []): Tally {
  const proved = new Set(cited)
  const seen = new Set<string>()
  const errors: string[] = []
  for (const requirement of list) {
    const { id } = requirement
    if (seen.has(id)) errors.push(`requirement "${id}" stands twice: rename one`)
    errors.push(...problemsOf(requirement, proved.has(id)))
    seen.add(id)
  }
  for (const id of proved) if (!seen.has(id)) errors.push(`a test proves "${id}", which is no requirement`)
  for (const id of expected) {
    if (!proved.has(id)) errors.push(`requirement "${id}" was proved before and is not now: mend it or its test`)
  }
  return {
    proved: list.map((requirement) => requirement.id).filter((id) => proved.has(id)),
    decided: list.filter((requirement) => requirement.decided !== undefined),
    deferred: list.filter((requirement) => requirement.deferred !== undefined),
    open: list.filter((requirement) => !isStated(requirement) && !proved.has(requirement.id)),
    errors,
  }
}

/** The line that ends a run: `requirements: P proved, C decided, D deferred, O open of T`. */
export function summary({ proved, decided, deferred, open }: Tally): string {
  const total = proved.length + decided.length + deferred.length + open.length
  const counts = `${proved.length} proved, ${decided.length} decided, ${deferred.length} deferred, ${open.length} open`
  return `requirements: ${counts} of ${total}`
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
    for (const { id, decided } of result.decided) console.log(`decided ${id}: ${decided}`)
    for (const { id, deferred } of result.deferred) console.log(`deferred ${id}: ${deferred}`)
    for (const { id, text } of result.open) console.log(`open ${id}: ${text}`)
  }
  for (const error of result.errors) console.log(error)
  console.log(summary(result))
  process.exit(result.errors.length > 0 ? 1 : 0)
}
