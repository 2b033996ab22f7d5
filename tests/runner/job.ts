/** What a test run consists of: jobs, each the run of one test program. */
import type { TestBinary } from '../support/test-binaries.ts'

/** Results of a test program. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** One test program: a file of tests, the unit tests together, or a binary that cargo built. */
export interface Job {
  /** The path of the file from the root, `unit and shape tests`, or `crate NAME, unit tests` and `crate NAME, tests`. */
  readonly name: string
  readonly runner: 'bun' | 'cargo'
  /** Paths from the root: the test files, or the binary. */
  readonly files: readonly string[]
  /** The crate of a binary of cargo's. */
  readonly crate?: string
  /** A pattern for bun, a part for cargo, that test names have to match. */
  readonly tests?: string
  /** `host` where packages come from a registry, else a loopback of its own. */
  readonly network: 'own' | 'host'
  /** Whether it is a soak group: it is never kept as unchanged and never repeated. */
  readonly soaks: boolean
  /** Whether it kills and fuzzes, and so runs in namespaces of its own or not at all. */
  readonly dangerous: boolean
  /** After so long it is ended. */
  readonly minutes: number
}

/** A program of tests that cargo built. */
export type Program = Pick<TestBinary, 'crate' | 'kind' | 'path'>

/** What is asked for. */
export interface Request {
  /** Paths of all test files from the root. */
  readonly files: readonly string[]
  /** The programs that cargo built. */
  readonly binaries: readonly Program[]
  /** A part of a path, the name of a crate, or else a part of test names. */
  readonly filter: string | undefined
  /** True for all soak groups, or the number of one, modulo how many there are. */
  readonly soak: boolean | number
  /** The factor by which soak groups do more than usual. */
  readonly soakScale: number
}

/** A group takes at most half of that as it is called. */
const soakMinutes = 20

/** Name of the job of all tests that start neither displays nor machines. */
export const unitTests = 'unit and shape tests'

const isSoak = (file: string): boolean => file.startsWith('tests/soak/')
/** Tests that start programs and displays: each file is a job. */
const isSingle = (file: string): boolean => /^tests\/(e2e|soak)\//.test(file)
const isDangerous = (file: string): boolean => isSoak(file) || file.startsWith('tests/e2e/hazard/')
/** Tests that take packages from a registry where they have not been kept from an earlier run. */
const needRegistry =
  /^tests\/(e2e\/(android[\w-]*|imagebuild|images-clients|mobile|official-clients|packages[\w-]*|sdk-cloud-init|sdk-container|sdk-image|sdk-layers|vmhost-clients)|soak\/(containers-|desktop-(disk|sandboxes)|local-root|schemas))/

/** Plans a run. */
export function plan({ files, binaries, filter, soak, soakScale }: Request): Job[] {
  const minutes = soakMinutes * Math.max(1, soakScale)

  const groups = files.filter(isSoak).toSorted()
  const group = typeof soak === 'number' ? groups[soak % groups.length] : undefined
  const wanted = files.filter((file) => !isSoak(file) || soak === true || file === group).toSorted()
  if (filter === undefined) return [...bunJobs(wanted, minutes), ...cargoJobs(binaries)]
  const crate = filter.replace(/^crates\//, '').replace(/\/$/, '')
  const ofCrate = binaries.filter((binary) => binary.crate === crate)
  const matching = wanted.filter((file) => file.includes(filter))
  if (ofCrate.length + matching.length > 0) return [...bunJobs(matching, minutes), ...cargoJobs(ofCrate)]
  return [...bunJobs(wanted, minutes, RegExp.escape(filter)), ...cargoJobs(binaries, filter)]
}

function bunJobs(files: readonly string[], minutesOfSoak: number, tests?: string): Job[] {
  const base = {
    runner: 'bun',
    minutes: 10,
    network: 'own',
    soaks: false,
    dangerous: false,
    ...(tests ? { tests } : {}),
  } as const
  const together = files.filter((file) => !isSingle(file))
  const single = files.filter(isSingle).map((file): Job => {
    const soaks = isSoak(file)
    const network = needRegistry.test(file) ? 'host' : 'own'
    return {
      ...base,
      name: file,
      files: [file],
      network,
      soaks,
      dangerous: isDangerous(file),
      minutes: soaks ? minutesOfSoak : 10,
    }
  })
  return together.length > 0 ? [{ ...base, name: unitTests, files: together }, ...single] : single
}

const cargoJobs = (binaries: readonly Program[], tests?: string): Job[] =>
  binaries
    .filter(({ kind }) => kind !== 'example')
    .map(({ crate, kind, path }) => ({
      name: `crate ${crate}, ${kind === 'lib' ? 'unit tests' : 'tests'}`,
      runner: 'cargo',
      files: [path],
      crate,
      network: 'own',
      soaks: false,
      dangerous: false,
      minutes: 10,
      ...(tests ? { tests } : {}),
    }))
