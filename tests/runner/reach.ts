/**
 * What a test can reach, as paths from the root: its imports, the commands of the executable that its words name, what
 * these import in their turn, and the crates behind the functions of the native core that are imported on the way.
 *
 * Where it cannot be known (no command is named, the test reads the whole tree) everything counts as reached.
 */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { cratesBehind, cratesOf } from './reach-crates.ts'

/** The imports of a file: those that are there at its start, and those that it may make later. */
interface Imports {
  readonly now: readonly string[]
  readonly later: readonly string[]
}

const isCode = (path: string): boolean => /\.tsx?$/.test(path) && !path.endsWith('.d.ts')

/** What a service loads only when somebody looks at a part of it, and the words of tests that do. */
const loadedFor: Readonly<Record<string, RegExp>> = {
  'ts/cli/compose/host-sandboxes.ts': /support\/browser\.ts|svc\/sandboxes/,
}

/** Files whose change changes every result: what is installed, and what runs the tests. */
const isEverywhere = (path: string): boolean =>
  /^(bun\.lock|bunfig\.toml|package\.json|ts\/[^/]+\/package\.json|Cargo\.(toml|lock)|tests\/runner\/.*|tests\/run\.ts|tests\/support\/apart)$/.test(
    path,
  )

/** The tree as it is: which file reaches which. */
export class Tree {
  private readonly known = new Map<string, Imports>()
  private readonly texts = new Map<string, string>()
  private readonly present: ReadonlySet<string>
  private readonly commands: ReadonlyMap<string, readonly string[]>
  private readonly tools: ReadonlySet<string>

  /** `files` are the paths of all files of the project from `root`. */
  constructor(
    readonly root: string,
    readonly files: readonly string[],
  ) {
    this.present = new Set(files)
    this.commands = this.readCommands()
    const driver = files.filter((file) => file.startsWith('ts/driver/tools/') || file.startsWith('ts/contract/'))
    const named = driver.flatMap((file) =>
      [...this.text(file).matchAll(/\bname: '([a-z_]+)'/g)].map(([, name]) => name),
    )
    this.tools = new Set(named.flatMap((name) => name ?? []))
  }

  /** The text of a file. */
  text(path: string): string {
    let text = this.texts.get(path)
    if (text === undefined) {
      text = existsSync(join(this.root, path)) ? readFileSync(join(this.root, path), 'utf8') : ''
      this.texts.set(path, text)
    }
    return text
  }

  /** All that the tests of a file can reach. */
  ofTest(test: string): string[] {
    const reached = this.closure([test])
    const own = [...reached].filter((path) => path.startsWith('tests/'))
    // What is packed is named by paths and not imported.
    if (reached.has('ts/pack/packages.ts')) return [...this.files]
    if (own.some((path) => /^tests\/(shape|spec)\//.test(path) && /\.(test|sources)\.ts$|sources\.ts$/.test(path)))
      return [...this.files]
    if (own.some((path) => this.text(path).includes('BACKLOT_BIN'))) {
      const started = this.startedBy(own)
      if (started === undefined) return [...this.files]
      const words = own.map((path) => this.text(path)).join('\n')
      for (const path of this.closure(started.whole, true, words)) reached.add(path)
      for (const path of this.closure(started.start, false)) reached.add(path)
    }
    for (const path of this.besides(reached, own)) reached.add(path)
    for (const path of this.ofCrates(cratesBehind(this, reached))) reached.add(path)
    for (const path of this.files) if (isEverywhere(path)) reached.add(path)
    return [...reached]
  }

  /** All that the test programs of a crate can reach. */
  ofCrate(crate: string): string[] {
    return [...this.ofCrates(cratesOf(this, [crate])), ...this.files.filter(isEverywhere)]
  }

  private ofCrates(crates: ReadonlySet<string>): string[] {
    return this.files.filter((path) => path.startsWith('crates/') && crates.has(path.split('/')[1] ?? ''))
  }

  /**
   * The files that the executable loads when it starts, and all that the named commands may load; undefined where
   * nobody can say which these are. A command or a tool counts as named where it stands first in a list or a call.
   */
  private startedBy(own: readonly string[]): { start: string[]; whole: string[] } | undefined {
    const text = own.map((path) => this.text(path)).join('\n')
    const words = new Set([...text.matchAll(/[[(]\s*'([\w-]+)'/g)].map(([, word]) => word ?? ''))
    if (['help', 'completion'].some((word) => words.has(word))) return undefined
    const isDriver = own.includes('tests/support/driver.ts') || text.includes('backlot-driver')
    const whole = [...words]
      .flatMap((word) => this.commands.get(word) ?? [])
      .filter((path) => isDriver || !path.startsWith('ts/cli/commands/driver-'))
    if (isDriver || [...words].some((word) => this.tools.has(word)))
      whole.push('ts/cli/commands/driver-serve.ts', 'ts/cli/tool-call.ts', 'ts/cli/commands/mcp.ts')
    return whole.length === 0 ? undefined : { start: ['ts/cli/main.ts', 'ts/cli/backlot-driver.ts'], whole }
  }

  /** What is not imported but read: fixtures that are named, and what stands beside the code of a package. */
  private besides(reached: ReadonlySet<string>, own: readonly string[]): string[] {
    const packages = new Set([...reached].flatMap((path) => path.match(/^ts\/[^/]+\//)?.[0] ?? []))
    const text = own.map((path) => this.text(path)).join('\n')
    return this.files.filter((path) => {
      if (isCode(path))
        return /^ts\/(vmhost\/console|serve\/page)\//.test(path) && reached.has('ts/serve/pages/bundle.ts')
      if (path.startsWith('tests/')) return text.includes(basename(path).replace(/\.\w+$/, ''))
      if (path.startsWith('images/')) return packages.has('ts/imagebuild/')
      return [...packages].some((folder) => path.startsWith(folder))
    })
  }

  /** What some files import, and these import, and so on; `later` imports among them or not, as far as a test's `words` go. */
  private closure(from: readonly string[], later = true, words?: string): Set<string> {
    const reached = new Set<string>()
    const waiting = [...from]
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (reached.has(path)) continue
      reached.add(path)
      const imports = this.importsOf(path)
      waiting.push(...imports.now)
      // The registry of commands would load them all; which of them are called is told by the words of the test.
      const isLooked = words === undefined || (loadedFor[path]?.test(words) ?? true)
      if (later && isLooked && path !== 'ts/cli/registry.ts') waiting.push(...imports.later)
    }
    return reached
  }

  private importsOf(path: string): Imports {
    let imports = this.known.get(path)
    if (imports === undefined) {
      const found = isCode(path)
        ? new Bun.Transpiler({ loader: path.endsWith('x') ? 'tsx' : 'ts' }).scanImports(this.text(path))
        : []
      const of = (isLater: boolean) =>
        found
          .filter(({ kind }) => (kind === 'dynamic-import') === isLater)
          .flatMap(({ path: specifier }) => this.resolve(path, specifier) ?? [])
      imports = { now: of(false), later: of(true) }
      this.known.set(path, imports)
    }
    return imports
  }

  private resolve(from: string, specifier: string): string | undefined {
    if (specifier.startsWith('.')) {
      const path = join(dirname(from), specifier)
      return this.present.has(path) ? path : undefined
    }
    const [, name = '', rest = ''] = specifier.match(/^@backlot\/([^/]+)(?:\/(.*))?$/) ?? []
    if (name === '') return undefined
    const whole = join('ts', name, exported(this.text(`ts/${name}/package.json`), rest))
    return this.present.has(whole) ? whole : undefined
  }

  /** The modules of the commands of both names of the executable, by the command's name. */
  private readCommands(): Map<string, string[]> {
    const commands = new Map<string, string[]>()
    const rows = this.text('ts/cli/registry.ts').matchAll(/^\s*'?([a-z-]+)'?: \(\) => import\('\.\/([^']+)'\)/gm)
    for (const [, name = '', path = ''] of rows) {
      commands.set(name, [...(commands.get(name) ?? []), `ts/cli/${path}`])
    }
    return commands
  }
}

/** The file of a package that another reaches by `@backlot/NAME/REST`, as the package's manifest says. */
const exported = (manifest: string, rest: string): string => {
  const { exports = {} } = JSON.parse(manifest) as { exports?: Readonly<Record<string, string>> }
  const key = rest === '' ? '.' : `./${rest}`
  const exact = exports[key]
  if (exact !== undefined) return exact
  for (const [pattern, path] of Object.entries(exports)) {
    const [before = '', after = ''] = pattern.split('*')
    const matches = pattern.includes('*') && key.startsWith(before) && key.endsWith(after)
    if (matches) return path.replace('*', key.slice(before.length, key.length - after.length))
  }
  return ''
}
