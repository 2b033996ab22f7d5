/** Which jobs of a run need not run, or are not wanted: results are kept under the hash of what a test reaches. */
import type { Job } from './job.ts'
import { unitTests } from './job.ts'
import type { Contents, Results } from './kept.ts'
import type { Tree } from './reach.ts'

/** The files that a job can reach. */
export const reachOf = (tree: Tree, { files, crate }: Job): string[] =>
  crate === undefined ? [...new Set(files.flatMap((file) => tree.ofTest(file)))] : tree.ofCrate(crate)

/** The names of the jobs whose kept result is that of what they reach now. */
export function unchanged(jobs: readonly Job[], tree: Tree, contents: Contents, kept: Results): Set<string> {
  const names = jobs.filter((job) => kept[job.name]?.hash === contents.of(reachOf(tree, job))).map(({ name }) => name)
  return new Set(names)
}

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
