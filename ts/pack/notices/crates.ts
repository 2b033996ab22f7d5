/** The crates that are linked into the native core. */
import { dirname } from 'node:path'
import { root } from '../workspace.ts'
import { type Component, textsIn } from './part.ts'
import { rustLibrary } from './stated.ts'

/** What cargo tells of a workspace. */
interface Metadata {
  readonly packages: readonly {
    readonly id: string
    readonly name: string
    readonly version: string
    readonly license: string | null
    readonly repository: string | null
    /** Null for our own. */
    readonly source: string | null
    readonly manifest_path: string
    readonly targets: readonly { readonly kind: readonly string[] }[]
  }[]
  readonly resolve: {
    readonly nodes: readonly {
      readonly id: string
      readonly deps: readonly {
        readonly pkg: string
        readonly dep_kinds: readonly { readonly kind: string | null }[]
      }[]
    }[]
  }
}

const output = async (...command: string[]): Promise<string> => {
  const child = Bun.spawn(command, { cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [text, said] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`"${command.join(' ')}" failed: ${said.trim()}`)
  return text
}

/** The crates of others in the native core for a target such as `x86_64-unknown-linux-gnu`, and Rust's own library. */
export const cratesFor = async (target: string): Promise<Component[]> => {
  const [metadata, rustc] = await Promise.all([
    output('cargo', 'metadata', '--offline', '--locked', '--format-version', '1', '--filter-platform', target),
    output('rustc', '--version'),
  ])
  const { packages, resolve } = JSON.parse(metadata) as Metadata
  const named = new Map(packages.map((each) => [each.id, each]))
  const needs = new Map(resolve.nodes.map(({ id, deps }) => [id, deps]))
  const native = packages.find(({ name, source }) => name === 'native' && source === null)
  if (native === undefined) throw new Error('There is no crate "native" in the workspace.')
  const linked = new Set([native.id])
  for (const id of linked) {
    // What runs in the compiler puts its own crates into nothing.
    if (named.get(id)?.targets.some(({ kind }) => kind.includes('proc-macro'))) continue
    for (const { pkg, dep_kinds } of needs.get(id) ?? []) {
      if (dep_kinds.some(({ kind }) => kind === null)) linked.add(pkg)
    }
  }
  const others = packages.filter(({ id, source }) => source !== null && linked.has(id))
  const crates = others.map(async ({ name, version, license, repository, manifest_path }) => ({
    ...{ name, version, license: license ?? '', source: repository ?? `https://crates.io/crates/${name}` },
    texts: await textsIn(dirname(manifest_path)),
  }))
  return [...(await Promise.all(crates)), rustLibrary(/^rustc (\S+)/.exec(rustc)?.[1] ?? '')]
}
