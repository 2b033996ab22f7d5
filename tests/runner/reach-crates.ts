/** Which crates stand behind what a test reaches. */
import type { Tree } from './reach.ts'

type Files = Pick<Tree, 'files' | 'text'>

/** The crates whose abilities each package uses through the native core; the core itself comes with each of them. */
const behind: Readonly<Record<string, readonly string[]>> = {
  cli: [],
  driver: ['ax', 'capture', 'cursor', 'desktop', 'input', 'video'],
  headless: [],
  local: [],
  serve: [],
  vmhost: ['qcow2', 'qmp'],
}

/** The crates behind what some files load of the native core; all of them for a package that has no row. */
export function cratesBehind(tree: Files, reached: Iterable<string>): Set<string> {
  const crates = new Set<string>()
  for (const path of reached) {
    const text = tree.text(path)
    if (path.startsWith('ts/native/') || !/\.tsx?$/.test(path) || !text.includes("'@backlot/native'")) continue
    const users = path.startsWith('ts/') ? behind[path.split('/')[1] ?? ''] : undefined
    for (const crate of users ?? cratesIn(tree)) crates.add(crate)
    crates.add('native')
  }
  // The core names every crate; what counts is who is called through it.
  const isCalled = crates.delete('native')
  const all = cratesOf(tree, crates)
  return isCalled ? all.add('native') : all
}

/** The crates themselves and all that they depend on, to build or to test. */
export function cratesOf(tree: Files, crates: Iterable<string>): Set<string> {
  const all = cratesIn(tree)
  const reached = new Set<string>()
  const waiting = [...crates]
  for (let crate = waiting.pop(); crate !== undefined; crate = waiting.pop()) {
    if (reached.has(crate) || !all.has(crate)) continue
    reached.add(crate)
    const manifest = tree.text(`crates/${crate}/Cargo.toml`)
    for (const [, name = ''] of manifest.matchAll(/^([a-z0-9_-]+)\b.*(?:workspace|path)/gm)) waiting.push(name)
  }
  return reached
}

const cratesIn = (tree: Files): Set<string> =>
  new Set(tree.files.flatMap((path) => path.match(/^crates\/([^/]+)\/Cargo\.toml$/)?.[1] ?? []))
