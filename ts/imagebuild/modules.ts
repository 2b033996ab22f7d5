/** Kernel modules of an unpacked kernel package: which there are, what they need, and the lists that modprobe reads. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { unpacked } from './compressed.ts'

/** A module without its compression. */
export interface KernelModule {
  readonly name: string
  /** `NAME.ko`. */
  readonly file: string
  readonly data: Uint8Array
  /** Names of the modules that it needs at once. */
  readonly needs: readonly string[]
}

const plainName = (file: string): string => file.replace(/\.ko(\.\w+)?$/, '').replaceAll('-', '_')

/** The modules of a kernel, by name; `folder` is where its package was unpacked. */
export class KernelModules {
  private constructor(
    /** What `uname -r` says under this kernel. */
    readonly release: string,
    readonly files: ReadonlyMap<string, string>,
  ) {}

  static async open(folder: string): Promise<KernelModules> {
    const base = await firstFolder([join(folder, 'usr/lib/modules'), join(folder, 'lib/modules')])
    const [release = ''] = await readdir(base)
    const found = await readdir(join(base, release), { recursive: true })
    const files = found.filter((file) => /\.ko(\.\w+)?$/.test(file))
    return new KernelModules(
      release,
      new Map(files.map((file) => [plainName(basename(file)), join(base, release, file)])),
    )
  }

  /** Those modules and all that they need, each after what it needs. Throws `image_not_built` for one that is absent. */
  async closure(names: readonly string[]): Promise<KernelModule[]> {
    const ordered = new Map<string, KernelModule>()
    const visit = async (name: string): Promise<void> => {
      if (ordered.has(name)) return
      const module = await this.#read(name)
      for (const needed of module.needs) await visit(needed)
      ordered.set(name, module)
    }
    for (const name of names) await visit(name)
    return [...ordered.values()]
  }

  async #read(name: string): Promise<KernelModule> {
    const path = this.files.get(name)
    if (path === undefined) {
      throw new Failure(
        'image_not_built',
        `The kernel ${this.release} has no module "${name}". Build with the kernel of Debian 12 or later.`,
        { module: name, kernel: this.release },
      )
    }
    const data = await unpacked(new Uint8Array(await readFile(path)), path)
    // The section .modinfo holds `key=value` texts, each ended by a NUL.
    const [, needs = ''] = /\0depends=([^\0]*)\0/.exec(Buffer.from(data).toString('latin1')) ?? []
    return {
      name,
      file: `${name}.ko`,
      data,
      needs: needs
        .split(',')
        .filter((each) => each !== '')
        .map(plainName),
    }
  }
}

/** What modprobe reads as `modules.dep`: each file, then all that it needs; the last one is loaded first. */
export const dependencyList = (modules: readonly KernelModule[]): string => {
  const byName = new Map(modules.map((module) => [module.name, module]))
  const afterNeeds = (name: string): string[] => [
    ...new Set([...(byName.get(name)?.needs ?? []).flatMap(afterNeeds), name]),
  ]
  const line = ({ name, file }: KernelModule): string => {
    const needs = afterNeeds(name).slice(0, -1).reverse()
    return `${file}:${needs.map((each) => ` ${each}.ko`).join('')}\n`
  }
  return modules.map(line).join('')
}

const firstFolder = async (paths: readonly string[]): Promise<string> => {
  for (const path of paths) {
    if (await readdir(path).catch(() => undefined)) return path
  }
  throw new Failure('image_not_built', `The kernel's package holds no modules under ${paths.join(' or ')}.`)
}
