/** Which jobs of a run need not run, or are not wanted: results are kept under the hash of what a test reaches. */
import { basename } from 'node:path'
import type { Job } from './job.ts'
import { unitTests } from './job.ts'
import type { Contents, Results } from './kept.ts'
import type { Tree } from './reach.ts'

/** The files that a job can reach. */
export const reachOf = (tree: Tree, { files, crate }: Job): string[] =>
  crate === undefined ? [...new Set(files.flatMap((file) => tree.ofTest(file)))] : tree.ofCrate(crate)

/** The hash of all that each job reaches, by its name: as the files are now, before anything runs. */
export const hashesOf = (jobs: readonly Job[], tree: Tree, contents: Contents): Map<string, string> =>
  new Map(jobs.map((job) => [job.name, contents.of(reachOf(tree, job))]))

/** The names of the jobs whose kept result is that of what they reach now. */
export const unchanged = (hashes: ReadonlyMap<string, string>, kept: Results): Set<string> =>
  new Set([...hashes].flatMap(([name, hash]) => (kept[name]?.hash === hash ? [name] : [])))

/** The jobs that reach a file of `changed`; of the unit tests only the files that do. */
export function reaching(jobs: readonly Job[], tree: Tree, changed: readonly string[]): Job[] {
  const differs = new Set(changed)
  return jobs.flatMap((job) => {
    const reaches = (files: readonly string[]) => files.some((file) => differs.has(file))
    if (job.name !== unitTests) return reaches(reachOf(tree, job)) ? [job] : []
    const files = job.files.filter((file) => reaches(tree.ofTest(file)))
    return files.length > 0 ? [{ ...job, files }] : []
  })
}

/** The jobs whose test files name a file of `changed` first, for those are the likeliest to notice; else the order stays. */
export function nearestFirst(jobs: readonly Job[], tree: Tree, changed: readonly string[]): Job[] {
  const names = changed.map((path) => basename(path).replace(/\..*$/, '').replaceAll(/[-_]/g, '[-_ ]?'))
  const pattern = new RegExp(names.length > 0 ? names.join('|') : '$^', 'gi')
  const mentions = (job: Job): number =>
    job.files.reduce((sum, file) => sum + (`${file} ${tree.text(file)}`.match(pattern)?.length ?? 0), 0)
  const isCrate = ({ crate }: Job) => changed.some((path) => path.startsWith(`crates/${crate}/`))
  const near = (job: Job): number => (job.name === unitTests || isCrate(job) ? Number.POSITIVE_INFINITY : mentions(job))
  return jobs.toSorted((a, b) => (near(a) === near(b) ? 0 : near(b) - near(a)))
}

/** Paths of the files that differ from the last commit, those that Git does not know yet among them. */
export const changedFiles = (root: string): string[] =>
  [
    ['diff', '--name-only', '-z', 'HEAD'],
    ['ls-files', '--others', '--exclude-standard', '-z'],
  ].flatMap((words) =>
    Bun.spawnSync(['git', ...words], { cwd: root })
      .stdout.toString()
      .split('\0')
      .filter((path) => path !== ''),
  )
