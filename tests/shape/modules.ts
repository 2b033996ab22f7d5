/** Which modules of a crate use which others of it. */
import { basename, dirname } from 'node:path'
import { files, read } from './sources.ts'

/** A path in a `use`, or elsewhere, split at its colons; `isOffered` where a `pub use` names it. */
interface Use {
  readonly segments: readonly string[]
  readonly isOffered: boolean
}

/** What one file holds: its code without tests and comments, and what it names of its crate. */
interface Module {
  readonly code: string
  readonly uses: readonly Use[]
}

/** The modules of a crate by their paths; the crate's root has the empty one. */
type Modules = ReadonlyMap<string, Module>

const joined = (...segments: readonly string[]): string => segments.filter((each) => each !== '').join('::')
const parentOf = (module: string): string => module.split('::').slice(0, -1).join('::')

/** The text that a compiler sees outside tests. */
const codeOf = (text: string): string => {
  const [code = ''] = text.split(/^#\[cfg\((?:all\()?test\b[^\n]*\n(?:#\[[^\n]*\n)*(?:pub(?:\([^)]*\))? )?mod \w+ \{/m)
  return code.replace(/\/\/[^\n]*/g, '')
}

/** `a::{b, c::{d, e as f}}` as the paths that it stands for. */
export function spread(tree: string): string[][] {
  const brace = tree.indexOf('{')
  if (brace < 0)
    return [
      tree
        .replace(/\s+as\s+\w+/, '')
        .split('::')
        .map((each) => each.trim()),
    ]
  const head = tree
    .slice(0, brace)
    .split('::')
    .map((each) => each.trim())
    .filter((each) => each !== '')
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const sign of tree.slice(brace + 1, tree.lastIndexOf('}'))) {
    if (sign === '{') depth += 1
    if (sign === '}') depth -= 1
    if (sign === ',' && depth === 0) {
      parts.push(part)
      part = ''
    } else part += sign
  }
  return [...parts, part]
    .filter((each) => each.trim() !== '')
    .flatMap((each) => spread(each.trim()).map((rest) => [...head, ...rest]))
}

function moduleOf(text: string): Module {
  const code = codeOf(text)
  const statement = /^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]*);/gm
  const uses = [...code.matchAll(statement)].flatMap(([, offer, tree = '']) =>
    spread(tree).map((segments) => ({ segments, isOffered: offer !== undefined })),
  )
  const rest = code.replace(statement, '')
  const children = [...code.matchAll(/^[ \t]*(?:pub(?:\([^)]*\))? )?mod (\w+);/gm)].map(([, name]) => name)
  const inline = new RegExp(
    `(?<![\\w:])(?:crate|super|self${children.map((name) => `|${name}`).join('')})(?:::\\w+)+`,
    'g',
  )
  const named = [...rest.matchAll(inline)].map(([path]) => ({ segments: path.split('::'), isOffered: false }))
  return { code: rest, uses: [...uses, ...named] }
}

/** The files of a crate under the paths of their modules; of a choice of platforms the first one counts. */
function modulesOf(crate: string): Modules {
  const folder = `crates/${crate}/src`
  const [platform, ...others] = [...read(`${folder}/lib.rs`).matchAll(/path = "([^"]+)"/g)].map(
    ([, path]) => path ?? '',
  )
  const modules = new Map<string, Module>()
  for (const file of files.filter((each) => each.startsWith(`${folder}/`) && each.endsWith('.rs'))) {
    const path = file.slice(folder.length + 1)
    if (others.includes(path)) continue
    const stem = basename(path, '.rs')
    let names = path === platform ? ['platform'] : [...dirname(path).split('/'), stem]
    if (
      platform !== undefined &&
      path !== platform &&
      names[0] === (dirname(platform) === '.' ? basename(platform, '.rs') : dirname(platform))
    )
      names = ['platform', ...names.slice(1)]
    names = names.filter(
      (each, index) => each !== '.' && !(index === names.length - 1 && ['mod', 'lib'].includes(each)),
    )
    modules.set(joined(...names), moduleOf(read(file)))
  }
  return modules
}

/** The module that has what a path names; what a module offers of another is the other's. */
function ownerOf(modules: Modules, from: string, { segments }: Use): string | undefined {
  let [first = '', ...rest] = segments
  let at = from
  if (first === 'crate') at = ''
  else if (first === 'super') {
    at = parentOf(from)
    while (rest[0] === 'super') {
      at = parentOf(at)
      rest = rest.slice(1)
    }
  } else if (first !== 'self') {
    if (!modules.has(joined(from, first))) return undefined
    rest = [first, ...rest]
  }
  for (const [index, name] of rest.entries()) {
    if (modules.has(joined(at, name))) {
      at = joined(at, name)
      continue
    }
    const offered = modules.get(at)?.uses.find((each) => each.isOffered && each.segments.at(-1) === name)
    if (offered === undefined) return at
    return ownerOf(modules, at, { ...offered, segments: [...offered.segments, ...rest.slice(index + 1)] }) ?? at
  }
  return at
}

/** For each module of a crate, the others that it uses: a name that it only offers to others is not used. */
export function usesOf(crate: string): Map<string, Set<string>> {
  const modules = modulesOf(crate)
  const uses = new Map<string, Set<string>>()
  for (const [name, module] of modules) {
    const isUsed = ({ segments, isOffered }: Use): boolean =>
      !isOffered || new RegExp(`\\b${segments.at(-1)?.replace('*', '')}\\b`).test(module.code)
    const owners = module.uses.filter(isUsed).map((each) => ownerOf(modules, name, each))
    uses.set(name, new Set(owners.filter((each) => each !== undefined).filter((each) => each !== name)))
  }
  return uses
}

/** The groups of things that reach each other, each sorted; a thing that reaches only itself by itself is in none. */
export function circlesOf(uses: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reach = (from: string): Set<string> => {
    const reached = new Set<string>()
    const next = [...(uses.get(from) ?? [])]
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      if (reached.has(at)) continue
      reached.add(at)
      next.push(...(uses.get(at) ?? []))
    }
    return reached
  }
  const reached = new Map([...uses.keys()].map((name) => [name, reach(name)]))
  const groups = [...uses.keys()]
    .filter((name) => reached.get(name)?.has(name))
    .map((name) =>
      [...uses.keys()].filter((each) => reached.get(name)?.has(each) && reached.get(each)?.has(name)).sort(),
    )
  return [...new Map(groups.map((group) => [group.join(' '), group])).values()]
}

/** The crates, by the names of their folders. */
export const crates: readonly string[] = [
  ...new Set(
    files.map((file) => /^crates\/([^/]+)\/src\/lib\.rs$/.exec(file)?.[1]).filter((name) => name !== undefined),
  ),
]
