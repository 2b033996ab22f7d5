import { expect, test } from 'bun:test'
import { files, root } from '../shape/sources.ts'
import { Contents } from './kept.ts'
import { Tree } from './reach.ts'
import { nearestFirst, reaching } from './select.ts'

const tree = new Tree(root, files)
/** Folders of packages and crates from which anything is reached, but for their manifests. */
const rooms = (paths: readonly string[]): string[] =>
  [
    ...new Set(
      paths.flatMap((path) => path.match(/^(?:(?:ts|crates)\/[^/]+|images)(?=\/(?!package\.json))/)?.[0] ?? []),
    ),
  ].toSorted()

test('a test of a driver tool reaches the driver with its crates, and nothing of the VM host', () => {
  const reached = rooms(tree.ofTest('tests/e2e/gtk3.test.ts'))
  expect(reached).toEqual(
    expect.arrayContaining([
      'ts/driver',
      'ts/headless',
      'crates/ax',
      'crates/input',
      'crates/native',
      'crates/test-support',
    ]),
  )
  expect(reached).not.toContain('ts/vmhost')
  expect(reached).not.toContain('crates/qcow2')
})

test('a test of VMs reaches the VM host with its crates and the recipes, and nothing that acts on desktops', () => {
  const reached = rooms(tree.ofTest('tests/e2e/vmhost-life.test.ts'))
  expect(reached).toEqual(
    expect.arrayContaining(['crates/qcow2', 'crates/qmp', 'images', 'ts/imagebuild', 'ts/vmhost']),
  )
  expect(reached).not.toContain('crates/input')
  expect(tree.ofTest('tests/e2e/vmhost-life.test.ts')).not.toContain('ts/driver/call.ts')
})

test('a test that calls for help may load every command, so it reaches everything', () => {
  expect(tree.ofTest('tests/e2e/completion.test.ts')).toHaveLength(files.length)
})

test('a fixture that is named, a page of the console and the lock files are reached', () => {
  expect(tree.ofTest('tests/e2e/gtk3.test.ts')).toEqual(
    expect.arrayContaining(['tests/support/fixtures/gtk3.py', 'bun.lock', 'Cargo.lock', 'tests/run.ts']),
  )
  expect(
    tree.ofTest('tests/e2e/console.test.ts').filter((path) => path.startsWith('ts/vmhost/console/page/')),
  ).not.toEqual([])
  expect(tree.ofTest('tests/e2e/console.test.ts')).toContain('ts/serve/page/screen.tsx')
})

test('a unit test reaches what it imports', () => {
  const reached = tree.ofTest('ts/serve/access/names.test.ts')
  expect(reached).toContain('ts/serve/access/names.ts')
  expect(reached).not.toContain('ts/vmhost/http/app.ts')
})

test('a crate reaches the crates that it is built and tested with', () => {
  expect(rooms(tree.ofCrate('video'))).toEqual([
    'crates/capture',
    'crates/desktop',
    'crates/imaging',
    'crates/test-support',
    'crates/video',
  ])
})

test('what reaches a file that differs is picked, of the unit tests only those files', () => {
  const base = { runner: 'bun', network: 'own', soaks: false, dangerous: false, minutes: 1 } as const
  const jobs = [
    { ...base, name: 'unit and shape tests', files: ['ts/serve/access/names.test.ts', 'ts/driver/paths.test.ts'] },
    { ...base, name: 'tests/e2e/gtk3.test.ts', files: ['tests/e2e/gtk3.test.ts'] },
    { ...base, runner: 'cargo' as const, name: 'crate qcow2, tests', files: ['target/it'], crate: 'qcow2' },
  ]
  const picked = (path: string) => reaching(jobs, tree, [path]).map(({ name, files: chosen }) => [name, ...chosen])
  expect(picked('ts/serve/access/names.ts')).toEqual([['unit and shape tests', 'ts/serve/access/names.test.ts']])
  expect(picked('crates/input/src/lib.rs')).toEqual([['tests/e2e/gtk3.test.ts', 'tests/e2e/gtk3.test.ts']])
  expect(picked('crates/qcow2/src/lib.rs')).toEqual([['crate qcow2, tests', 'target/it']])
  expect(picked('README.md')).toEqual([])
})

test('who names what differs comes first', () => {
  const base = { runner: 'bun', network: 'own', soaks: false, dangerous: false, minutes: 1 } as const
  const jobs = ['gtk3', 'clipboard'].map((name) => {
    const file = `tests/e2e/${name}.test.ts`
    return { ...base, name: file, files: [file] }
  })
  const first = (path: string) => nearestFirst(jobs, tree, [path])[0]?.name
  expect(first('ts/driver/tools/clipboard.ts')).toBe('tests/e2e/clipboard.test.ts')
  expect(first('ts/driver/no-such-word.ts')).toBe('tests/e2e/gtk3.test.ts')
})

test('a hash tells whether anything of what is reached differs', () => {
  const contents = new Contents(root)
  expect(contents.of(['README.md', 'dev'])).toBe(new Contents(root).of(['dev', 'README.md', 'dev']))
  expect(contents.of(['README.md'])).not.toBe(contents.of(['dev']))
  expect(contents.of(['README.md', 'no-such-file'])).not.toBe(contents.of(['README.md']))
})
