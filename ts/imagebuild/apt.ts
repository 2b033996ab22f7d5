/** Packages of the system's own Debian or Ubuntu, fetched and checked by apt, unpacked and never installed. */
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { run } from './run.ts'

/** apt with the lists of the machine, or with lists of our own where those are absent or too old. */
export class Apt {
  #ownLists: readonly string[] = []

  /** `folder`: where package files, what apt has read of its lists, and lists of our own, are kept. */
  constructor(
    readonly folder: string,
    readonly signal?: AbortSignal,
  ) {}

  /** Many systems keep nothing of what apt has read, and ordinary users cannot: each question would parse all lists. */
  get #options(): readonly string[] {
    const kept = ['-o', `Dir::Cache::pkgcache=${join(this.folder, 'pkgcache.bin')}`, '-o', 'Dir::Cache::srcpkgcache=']
    return [...kept, ...this.#ownLists]
  }

  /** Names of the packages that `names` need, themselves included, as far as they hold libraries or were asked for. */
  async closure(names: readonly string[]): Promise<string[]> {
    const ignored = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
      (kind) => `--no-${kind}`,
    )
    const text = await this.#ask('apt-cache', ['depends', '--recurse', ...ignored, ...names])
    const found = new Set(text.split('\n').filter((line) => /^[a-z0-9][a-z0-9+.-]*$/.test(line)))
    return [...found].filter((name) => names.includes(name) || /^z?lib/.test(name)).sort()
  }

  /** The package that a package without contents stands for: the first that it depends on whose name begins alike. */
  async meant(name: string): Promise<string> {
    const text = await this.#ask('apt-cache', ['depends', '--no-recommends', '--no-suggests', name])
    const [, meant] = /^\s*Depends: ([a-z0-9][a-z0-9+.-]*)$/m.exec(text) ?? []
    return meant ?? name
  }

  /** Fetches packages that are not here yet, and gives the paths of all their files. */
  async fetch(names: readonly string[], onPercent: (percent: number) => void): Promise<string[]> {
    const packages = join(this.folder, 'packages')
    await mkdir(packages, { recursive: true })
    const wanted = await this.#files(names)
    const present = new Set(await readdir(packages))
    const absent = [...wanted].filter(([, file]) => !present.has(file)).map(([name]) => name)
    if (absent.length === 0) return [...wanted.values()].map((file) => join(packages, file))
    await this.#retried(() =>
      run('apt-get', ['download', '-q', '-o', 'APT::Status-Fd=1', ...this.#options, ...absent], {
        cwd: packages,
        signal: this.signal,
        onLine: (line) => {
          const [, percent] = /^dlstatus:\d+:([\d.]+):/.exec(line) ?? []
          if (percent !== undefined) onPercent(Number(percent))
        },
      }),
    )
    // Fresh lists may name other versions.
    const files = await this.#files(names)
    return [...files.values()].map((file) => join(packages, file))
  }

  /** Names of package files as apt writes them, by package. */
  async #files(names: readonly string[]): Promise<Map<string, string>> {
    const text = await this.#ask('apt-cache', ['show', '--no-all-versions', ...names])
    const files = new Map<string, string>()
    for (const paragraph of text.split('\n\n')) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1]
      const name = field('Package')
      const version = field('Version')?.replaceAll(':', '%3a')
      if (name !== undefined && !files.has(name)) files.set(name, `${name}_${version}_${field('Architecture')}.deb`)
    }
    return files
  }

  async #ask(program: 'apt-cache', args: readonly string[]): Promise<string> {
    await mkdir(this.folder, { recursive: true })
    return new TextDecoder().decode(
      await this.#retried(() => run(program, [...this.#options, ...args], { signal: this.signal })),
    )
  }

  /** Once more with fresh lists of our own, where the machine's do not know a package or name one that is gone. */
  async #retried<Value>(attempt: () => Promise<Value>): Promise<Value> {
    try {
      return await attempt()
    } catch (error) {
      const { data, code } = Failure.from(error)
      if (this.#ownLists.length > 0 || code === 'cancelled' || data.complaint === undefined) throw explained(error)
    }
    try {
      const lists = join(this.folder, 'lists')
      await mkdir(join(lists, 'partial'), { recursive: true })
      this.#ownLists = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${join(this.folder, 'cache')}`]
      await mkdir(join(this.folder, 'cache', 'archives', 'partial'), { recursive: true })
      await run('apt-get', ['update', '-qq', '-o', 'APT::Update::Error-Mode=any', ...this.#options], {
        signal: this.signal,
      })
      return await attempt()
    } catch (error) {
      throw explained(error)
    }
  }
}

const explained = (error: unknown): Failure => {
  const failure = Failure.from(error)
  if (failure.data.complaint === undefined) return failure
  return new Failure(
    'packages_unavailable',
    `The image's packages cannot be fetched: ${failure.data.complaint}. Packages come from the mirrors in /etc/apt; make them reachable (\`apt-get update\` says whether they are) and build again.`,
    failure.data,
  )
}

/** Unpacks a package file into a folder. */
export const unpack = async (file: string, into: string, signal?: AbortSignal): Promise<void> => {
  await run('dpkg-deb', ['-x', file, into], { signal })
}
