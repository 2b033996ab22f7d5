/** What runs tell later runs: results under the hash of what they reached, times, and which tests were flaky. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Counts } from './job.ts'

/** A result without a failure, and the hash of all that it could reach. */
export interface Kept {
  readonly hash: string
  readonly counts: Counts
  readonly proofs: readonly string[]
  readonly seconds: number
}

/** Results by the name of the job. */
export type Results = Record<string, Kept>

/** Writes a file so that it is whole or not there. */
function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const made = `${path}.${process.pid}`
  writeFileSync(made, text)
  renameSync(made, path)
}

/** The results that are kept; none where the file is absent or damaged. */
export function readResults(path: string): Results {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Results
  } catch {
    return {}
  }
}

/** Keeps results beside those of other jobs. */
export const keepResults = (path: string, results: Results): void =>
  writeWhole(path, JSON.stringify({ ...readResults(path), ...results }))

/** The content of a checkout, by which results are known again. */
export class Contents {
  private readonly hashes = new Map<string, string>()
  /** What is installed changes results too. */
  private readonly machine = this.hashOf('/var/lib/dpkg/status')

  constructor(readonly root: string) {}

  /** The hash of some files of the checkout. */
  of(paths: readonly string[]): string {
    const sum = createHash('sha256').update(`${this.machine} ${process.platform} ${process.arch} ${Bun.version}`)
    for (const path of [...new Set(paths)].toSorted()) sum.update(`${path} ${this.hashOf(join(this.root, path))}\n`)
    return sum.digest('hex')
  }

  private hashOf(path: string): string {
    let hash = this.hashes.get(path)
    if (hash === undefined) {
      hash = existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'absent'
      this.hashes.set(path, hash)
    }
    return hash
  }
}

const lines = (path: string): string[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
    : []

/** Reads `NUMBER NAME` lines. */
export const readNumbers = (path: string): Map<string, number> =>
  new Map(
    lines(path).map((line) => {
      const space = line.indexOf(' ')
      return [line.slice(space + 1), Number(line.slice(0, space))]
    }),
  )

/** Writes `NUMBER NAME` lines under a comment, by name. */
export const writeNumbers = (path: string, comment: string, numbers: ReadonlyMap<string, number>): void =>
  writeWhole(
    path,
    [
      `# ${comment}`,
      ...[...numbers].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, n]) => `${n} ${name}`),
      '',
    ].join('\n'),
  )
