/** Reads what the two test runners report. */
import type { Counts } from './job.ts'

/** What one test program reported. */
export interface Report {
  readonly counts: Counts
  /** Names of the tests that failed, and of those that were skipped. */
  readonly failed: readonly string[]
  readonly skipped: readonly string[]
}

const unescapeXml = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&apos;/g, "'")
    .replace(/&amp;/g, '&')

const attribute = (tag: string, name: string): string =>
  unescapeXml(tag.match(new RegExp(`\\b${name}="([^"]*)"`))?.[1] ?? '')

/** Reads the JUnit file that `bun test --reporter=junit` writes: every file's report, by the file's path. */
export function reportsOfBun(junit: string): Map<string, Report> {
  const files = new Map<string, { counts: Counts; failed: string[]; skipped: string[] }>()
  for (const [, tag = '', body = ''] of junit.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const file = attribute(tag, 'file').replace(/^\.\//, '')
    const name = [attribute(tag, 'classname'), attribute(tag, 'name')].filter((part) => part !== '').join(' > ')
    const report = files.get(file) ?? { counts: { passed: 0, failed: 0, skipped: 0 }, failed: [], skipped: [] }
    files.set(file, report)
    if (/<(failure|error)\b/.test(body)) {
      report.counts.failed += 1
      report.failed.push(name)
    } else if (body.includes('<skipped')) {
      report.counts.skipped += 1
      report.skipped.push(name)
    } else report.counts.passed += 1
  }
  return files
}

/** Reads what a test program of Rust's standard harness prints. */
export function reportOfCargo(output: string): Report {
  const named = (end: string) =>
    [...output.matchAll(new RegExp(`^test (\\S+)(?: - [^.]*)? \\.\\.\\. ${end}`, 'gm'))].map((match) => match[1] ?? '')
  const sum = (word: string) =>
    [...output.matchAll(new RegExp(`^test result: .*?(\\d+) ${word}`, 'gm'))].reduce(
      (n, match) => n + Number(match[1]),
      0,
    )
  const listed = output.match(/^failures:\n((?: {4}\S+\n)+)\ntest result/m)?.[1] ?? ''
  return {
    counts: { passed: sum('passed'), failed: sum('failed'), skipped: sum('ignored') },
    failed: listed.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()])),
    skipped: named('ignored'),
  }
}

/** Adds up. */
export const total = (all: Iterable<Counts>): Counts => {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const counts of all) for (const key of ['passed', 'failed', 'skipped'] as const) sum[key] += counts[key]
  return sum
}
