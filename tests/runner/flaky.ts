/**
 * Which failed tests are tried a second time.
 *
 * Tests here use real servers, window managers and applications; on a loaded machine one of them is now and then too
 * late. Such a test is run once more by itself and counts as passed if it passes then; the run names it as flaky, and
 * `tests/flaky.txt` counts it over runs. A name that stands there already is a defect: it has one try. So have soak
 * tests, unit and shape tests, what leaves something behind, and everything when a tenth of the jobs fails: that is
 * no accident. Second tries end after minutes, whatever is left then has failed.
 */
import type { Result } from './execute.ts'
import { type Job, unitTests } from './job.ts'

/** With more failed jobs than this nothing is tried again: one in ten, and four of few. */
export const mostFlaky = (jobs: number): number => Math.max(4, Math.floor(jobs / 10))

/** Milliseconds after which no second try begins. */
export const triesEndMs = 240_000

/** The names by which failed tests of a job are counted. */
export const namesOf = (job: Job, { failed }: Pick<Result, 'failed'>): string[] =>
  failed.map((name) => `${job.name}: ${name}`)

/** Whether the failed tests of a job have a second try. */
export function worthAgain(
  job: Job,
  result: Pick<Result, 'failed' | 'left'>,
  known: ReadonlyMap<string, number>,
): boolean {
  if (job.soaks || job.name === unitTests || result.left.length > 0) return false
  return namesOf(job, result).every((name) => !known.has(name))
}

/** The counts of flaky tests after a run in which `names` were flaky. */
export function counted(known: ReadonlyMap<string, number>, names: readonly string[]): Map<string, number> {
  const counts = new Map(known)
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
