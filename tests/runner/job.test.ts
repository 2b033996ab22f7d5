import { expect, test } from 'bun:test'
import { plan, type Request } from './job.ts'

const request: Request = {
  files: [
    'tests/soak/kill.test.ts',
    'ts/driver/tool/check.test.ts',
    'tests/e2e/tree.test.ts',
    'tests/e2e/imagebuild.test.ts',
    'tests/soak/fuzz.test.ts',
  ],
  binaries: [
    { crate: 'ax', kind: 'lib', path: 'target/ax-1' },
    { crate: 'ax', kind: 'test', path: 'target/it-1' },
    { crate: 'input', kind: 'lib', path: 'target/input-1' },
    { crate: 'input', kind: 'example', path: 'target/contents' },
  ],
  filter: undefined,
  soak: false,
  soakScale: 1,
}
const names = (wish: Partial<Request>) =>
  plan({ ...request, ...wish }).map(({ name, tests }) => (tests === undefined ? name : `${name}: ${tests}`))

test('a whole run is every file and binary but for the soak groups', () => {
  expect(names({})).toEqual([
    'unit and shape tests',
    'tests/e2e/imagebuild.test.ts',
    'tests/e2e/tree.test.ts',
    'crate ax, unit tests',
    'crate ax, tests',
    'crate input, unit tests',
  ])
})

test('what takes packages from a registry keeps the network of the machine, the rest has its own', () => {
  const networks = plan(request).flatMap(({ name, network }) => (network === 'host' ? [name] : []))
  expect(networks).toEqual(['tests/e2e/imagebuild.test.ts'])
})

test('soak adds all groups, or one by its number modulo how many there are', () => {
  const soaking = (soak: Request['soak']) =>
    plan({ ...request, soak }).flatMap(({ name, soaks }) => (soaks ? [name] : []))
  expect(soaking(true)).toEqual(['tests/soak/fuzz.test.ts', 'tests/soak/kill.test.ts'])
  expect(soaking(41)).toEqual(['tests/soak/kill.test.ts'])
})

test('what kills and fuzzes runs in namespaces or not at all', () => {
  const files = [...request.files, 'tests/e2e/hazard/kill.test.ts']
  const dangerous = plan({ ...request, files, soak: 0 }).flatMap((job) => (job.dangerous ? [job.name] : []))
  expect(dangerous).toEqual(['tests/e2e/hazard/kill.test.ts', 'tests/soak/fuzz.test.ts'])
})

test('a filter is a path, a crate or a test name', () => {
  expect(names({ filter: 'e2e/tree' })).toEqual(['tests/e2e/tree.test.ts'])
  expect(names({ filter: 'crates/ax/' })).toEqual(['crate ax, unit tests', 'crate ax, tests'])
  expect(names({ filter: 'clicks (twice)' })[0]).toBe(`unit and shape tests: ${RegExp.escape('clicks (twice)')}`)
  expect(names({ filter: 'clicks (twice)' }).at(-1)).toBe('crate input, unit tests: clicks (twice)')
})
