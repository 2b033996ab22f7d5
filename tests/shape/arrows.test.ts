import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { externalOf, imports, packageOf } from './imports.ts'
import { files, placesOf, read, root } from './sources.ts'

/** What each package may import beside itself. */
const packages: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  native: ['contract'],
  driver: ['contract', 'native'],
  serve: ['contract', 'native'],
  computer: ['contract', 'native', 'serve'],
  vmhost: ['contract', 'native', 'serve'],
  headless: ['contract', 'native'],
  local: ['contract', 'headless', 'native'],
  imagebuild: ['contract'],
  sdk: ['contract', 'native'],
  pack: ['contract', 'driver'],
  cli: [
    'contract',
    'native',
    'serve',
    'driver',
    'vmhost',
    'computer',
    'headless',
    'imagebuild',
    'local',
    'pack',
    'sdk',
  ],
}

/** What each crate may depend on; `test-support` serves the tests of the others. */
const crates: Readonly<Record<string, readonly string[]>> = {
  native: ['ax', 'capture', 'cursor', 'desktop', 'input', 'qcow2', 'qmp', 'video'],
  ax: ['desktop'],
  capture: ['desktop', 'imaging'],
  cursor: ['desktop'],
  input: ['desktop'],
  video: ['capture', 'desktop'],
  qcow2: [],
  qmp: [],
  desktop: ['imaging'],
  imaging: [],
  'test-support': [],
}

test('only `desktop` asks the environment for a display', () => {
  const sources = files.filter((path) => /^crates\/(ax|capture|cursor|input|video)\/src\/.*\.rs$/.test(path))
  expect(sources.length).toBeGreaterThan(100)
  expect(placesOf(sources, /Session::of\(None\)|"DISPLAY"/)).toEqual([])
})

test('packages import along the arrows', () => {
  const wrong = imports.filter((each) => {
    const target = packageOf(each)
    return target !== undefined && target !== each.from && !packages[each.from]?.includes(target)
  })
  expect(wrong).toEqual([])
})

test('a package is reached through its exports and never by a path', () => {
  const across = imports.filter((each) => {
    const target = packageOf(each)
    return each.specifier.startsWith('.') && target !== undefined && target !== each.from
  })
  expect(across).toEqual([])
})

test('no file imports itself by way of others', () => {
  const targets = new Map<string, string[]>()
  for (const { file, specifier } of imports.filter((each) => each.specifier.startsWith('.'))) {
    targets.set(file, [...(targets.get(file) ?? []), join(dirname(file), specifier)])
  }
  const done = new Set<string>()
  const circles: string[] = []
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '))
    if (done.has(file) || way.includes(file)) return
    for (const target of targets.get(file) ?? []) follow(target, [...way, file])
    done.add(file)
  }
  for (const file of targets.keys()) follow(file, [])
  expect(circles).toEqual([])
})

test('a package declares the npm packages that it imports, and no others', () => {
  for (const name of Object.keys(packages)) {
    const manifest = JSON.parse(read(`ts/${name}/package.json`)) as Record<
      'dependencies' | 'optionalDependencies',
      Record<string, string> | undefined
    >
    const imported = imports.filter((each) => each.from === name)
    const used = new Set([
      ...imported.map(externalOf).filter((external) => external !== undefined),
      ...imported.filter((each) => each.specifier.startsWith('@backlot/')).map((each) => `@backlot/${packageOf(each)}`),
    ])
    used.delete(`@backlot/${name}`)
    expect({
      name,
      dependencies: Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).sort(),
    }).toEqual({
      name,
      dependencies: [...used].sort(),
    })
  }
})

interface Manifest {
  readonly dependencies?: Readonly<Record<string, unknown>>
  readonly target?: Readonly<Record<string, Manifest>>
}

const dependenciesOf = ({ dependencies = {}, target = {} }: Manifest): string[] => [
  ...Object.keys(dependencies),
  ...Object.values(target).flatMap(dependenciesOf),
]

test('crates depend along the arrows, and only `native` knows JavaScript', () => {
  const names = readdirSync(join(root, 'crates')).toSorted()
  const wrong = names.flatMap((name) =>
    dependenciesOf(Bun.TOML.parse(read(`crates/${name}/Cargo.toml`)) as Manifest)
      .filter((each) => (each in crates ? !crates[name]?.includes(each) : each.startsWith('napi') && name !== 'native'))
      .map((each) => `${name} -> ${each}`),
  )
  expect(wrong).toEqual([])
  expect(names).toEqual(Object.keys(crates).toSorted())
})
