/** What a run says at its end: what took how long, what it waited for, and what it found. */
import type { Result } from './execute.ts'
import type { Job } from './job.ts'

/** A job and what came of it. */
export interface Done {
  readonly job: Job
  readonly result: Result
}

const s = (seconds: number): string => `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`

/** The line of a job that has ended. */
export function line({ job, result }: Done, place: string): string {
  const { passed, failed, skipped } = result.counts
  const counts = [
    `${passed} passed`,
    ...(failed ? [`${failed} failed`] : []),
    ...(skipped ? [`${skipped} skipped`] : []),
  ]
  const word = failed > 0 ? 'FAIL' : 'ok  '
  const cpu = `(cpu ${s(result.cpuSeconds)}, system ${s(result.systemSeconds)})`
  return `${word} ${place} ${s(result.seconds).padStart(6)} ${cpu.padEnd(26)} ${job.name}: ${counts.join(', ')}`
}

/** Lines of an output that tell why a test failed: an error with what stands below it, or what panicked. */
const isReason =
  /^(error|Error|\w+Error|Expected|Received|\s*[+-] |waited|thread '.*' (\(\d+\) )?panicked|assertion|\s+(left|right): |\s+at .*\/tests\/|seed )/

const mostReasons = 12

/** What failed, and the lines of each job's output that say why. */
export const failures = (done: readonly Done[]): string[] =>
  done
    .filter(({ result }) => result.counts.failed > 0)
    .flatMap(({ job, result }) => {
      const reasons = result.output.split('\n').flatMap((text, at, all) => {
        if (!isReason.test(text)) return []
        // What a panic says stands in the line below.
        return /panicked/.test(text) ? [text, all[at + 1] ?? ''] : [text]
      })
      return [
        ...result.failed.map((name) => `failed: ${job.name}: ${name}`),
        ...reasons.slice(0, mostReasons).map((text) => `    ${text.trim().slice(0, 300)}`),
        ...(reasons.length > mostReasons ? [`    and ${reasons.length - mostReasons} more lines above`] : []),
      ]
    })

/** The longest jobs and waits of a run, the jobs that took the most processor time, and how much of the processors it used. */
export function times(done: readonly Done[], wallSeconds: number, cores: number): string[] {
  const most = (of: (result: Result) => number): string =>
    done
      .toSorted((a, b) => of(b.result) - of(a.result))
      .slice(0, 8)
      .map(({ job, result }) => `${job.name} ${s(of(result))}`)
      .join(', ')
  const waits = new Map<string, { ms: number; times: number }>()
  for (const { job, result } of done) {
    for (const { what, ms } of result.waits) {
      // Numbers and names of one run would make every wait another.
      const key = `${what.replaceAll(/[\w-]*\d[\w.-]*/g, '…').slice(0, 80)} (${job.name.replace(/^tests\//, '')})`
      const before = waits.get(key) ?? { ms: 0, times: 0 }
      waits.set(key, { ms: before.ms + ms, times: before.times + 1 })
    }
  }
  const waited = [...waits].toSorted(([, a], [, b]) => b.ms - a.ms).slice(0, 8)
  const sum = (of: (result: Result) => number): number => done.reduce((all, { result }) => all + of(result), 0)
  const cpu = sum(({ cpuSeconds }) => cpuSeconds)
  const system = sum(({ systemSeconds }) => systemSeconds)
  return [
    `longest: ${most(({ seconds }) => seconds)}`,
    `most processor time: ${most(({ cpuSeconds }) => cpuSeconds)}`,
    ...(waited.length > 0 ? ['waited longest for:'] : []),
    ...waited.map(([what, { ms, times }]) => `  ${s(ms / 1000)}${times > 1 ? ` in ${times} waits` : ''}: ${what}`),
    `in ${s(wallSeconds)}; processors used to ${Math.round((100 * cpu) / (wallSeconds * cores))} % (${s(cpu)}, system ${s(system)})`,
  ]
}
