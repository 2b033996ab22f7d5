/** What has to be true of a checkout before it is released. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A thing that was looked at. */
export interface Check {
  readonly name: string
  /** What is wrong and what to do, or null. */
  readonly objection: string | null
}

/** Looks at the checkout in `root`; `program` is the executable that is published. */
export const checksOf = (root: string, version: string, program: string): Check[] => [
  { name: 'every change is committed', objection: uncommitted(root) },
  { name: 'one version everywhere', objection: versions(root, version, program) },
  { name: 'the changelog has an entry', objection: changelog(root, version) },
  { name: "the tests' record is of this code", objection: record(root) },
]

const git = (root: string, ...words: string[]): string =>
  Bun.spawnSync(['git', ...words], { cwd: root })
    .stdout.toString()
    .trim()

const read = (root: string, path: string): string => readFileSync(join(root, path), 'utf8')

const uncommitted = (root: string): string | null => {
  const changed = git(root, 'status', '--porcelain').split('\n').filter(Boolean)
  return changed.length === 0 ? null : `${changed.length} files differ from the last commit: commit or remove them.`
}

const versions = (root: string, version: string, program: string): string | null => {
  const others = globSync('ts/*/package.json', { cwd: root })
    .filter((path) => (JSON.parse(read(root, path)) as { version: string }).version !== version)
    .toSorted()
  if (!read(root, 'Cargo.toml').includes(`\nversion = "${version}"\n`)) others.push('Cargo.toml')
  if (others.length > 0) return `${others.join(', ')} do not say ${version}: run ./dev gen.`
  const said = Bun.spawnSync([program, '--version']).stdout.toString().trim()
  return said === `backlot ${version}` ? null : `the executable says "${said}", not ${version}: run ./dev pack.`
}

const changelog = (root: string, version: string): string | null => {
  const heading = read(root, 'CHANGELOG.md')
    .split('\n')
    .find((line) => line === `## ${version}` || line.startsWith(`## ${version} `))
  if (heading === undefined) return `CHANGELOG.md has no "## ${version}".`
  return heading.includes('unreleased') ? `CHANGELOG.md calls ${version} unreleased: put the date there.` : null
}

/** What `./dev test --record` writes. */
const recorded = ['tests/spec/proved.txt', 'tests/times.txt', 'tests/flaky.txt']

const record = (root: string): string | null => {
  const commit = git(root, 'log', '-1', '--format=%h', '--', ...recorded)
  if (commit === '') return 'No run of the tests is recorded: run ./dev test --record and commit what it writes.'
  const changed = git(root, 'diff', '--name-only', commit, 'HEAD', '--', 'ts', 'crates', 'tests', 'images', 'docker')
    .split('\n')
    .filter((path) => path !== '' && !recorded.includes(path))
  return changed.length === 0
    ? null
    : `${changed.length} files differ from ${commit}, whose tests are recorded: run ./dev test --record and commit it.`
}
