/** What a test run consists of, and how the summaries of the two test runners are read. */

/** Results of a runner. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** One run of `bun test`. */
export interface BunStep {
  readonly label: string
  readonly files: readonly string[]
  /** A pattern that test names have to match. */
  readonly name?: string
  /** Whether it runs in namespaces of its own with a throw-away root. */
  readonly apart: boolean
  /** After so long it is ended. */
  readonly minutes: number
}

/** What is run, in order: cargo's arguments, or nothing for it, and the runs of bun. */
export interface Plan {
  readonly cargo: readonly string[] | undefined
  readonly bun: readonly BunStep[]
}

/** Paths of the tests that start programs and displays: they run one file after another, each in its own process. */
const alone = /^tests\/(e2e|soak)\//
/** Paths of the tests that kill and fuzz: they run apart from the machine. */
const dangerous = /^tests\/(e2e\/hazard|soak)\//
const soaking = /^tests\/soak\//

/**
 * Plans a run of `files` (paths from the root) and `crates` (names).
 * `soak` is true for all groups, or the number of a group, taken modulo how many there are.
 */
export function plan(request: {
  files: readonly string[]
  crates: readonly string[]
  filter: string | undefined
  soak: boolean | number
}): Plan {
  const { crates, filter } = request
  const files = request.files.toSorted()
  const groups = files.filter((file) => soaking.test(file))
  const group = typeof request.soak === 'number' ? groups[request.soak % groups.length] : undefined
  const wanted = files.filter((file) => !soaking.test(file) || request.soak === true || file === group)
  const matching = wanted.filter((file) => filter === undefined || file.includes(filter))
  const crate = crates.find((name) => name === filter?.replace(/^crates\//, '').replace(/\/$/, ''))

  if (crate !== undefined) return { cargo: ['-p', crate], bun: steps(matching) }
  if (filter !== undefined && matching.length > 0) return { cargo: undefined, bun: steps(matching) }
  if (filter !== undefined) return { cargo: ['--workspace', filter], bun: steps(wanted, RegExp.escape(filter)) }
  return { cargo: ['--workspace'], bun: steps(wanted) }
}

function steps(files: readonly string[], name?: string): BunStep[] {
  const together = files.filter((file) => !alone.test(file))
  const named = name === undefined ? {} : { name }
  const quick = { label: 'unit and shape tests', files: together, apart: false, minutes: 10, ...named }
  const single = files
    .filter((file) => alone.test(file))
    .map((file) => ({
      label: file,
      files: [file],
      apart: dangerous.test(file),
      minutes: soaking.test(file) ? 40 : 10,
      ...named,
    }))
  return together.length > 0 ? [quick, ...single] : single
}

const sum = (output: string, pattern: RegExp): number =>
  [...output.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0)

/** Adds up the summaries of `cargo test`. */
export const countsOfCargo = (output: string): Counts => ({
  passed: sum(output, /^test result: .*?(\d+) passed/gm),
  failed: sum(output, /^test result: .*?(\d+) failed/gm),
  skipped: sum(output, /^test result: .*?(\d+) ignored/gm),
})

/** Adds up the summary of `bun test`; a name that matches nothing is no failure. */
export function countsOfBun(output: string): Counts {
  return {
    passed: sum(output, /^ *(\d+) pass$/gm),
    failed: sum(output, /^ *(\d+) fail$/gm),
    skipped: sum(output, /^ *(\d+) (?:skip|todo)$/gm),
  }
}
