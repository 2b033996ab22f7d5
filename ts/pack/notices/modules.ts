/** The packages of npm whose modules stand in what is published. */
import { join } from 'node:path'
import { root } from '../workspace.ts'
import { type Component, textsIn } from './part.ts'

/** The folder of the package that a module belongs to, where it is not ours. */
export const packageFolder = (module: string): string | undefined =>
  /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0]

/** The packages with these folders, given from the root of the checkout or absolute. */
export const packagesIn = (folders: Iterable<string>): Promise<Component[]> =>
  Promise.all(
    [...new Set(folders)].toSorted().map(async (given) => {
      const folder = given.startsWith('/') ? given : join(root, given)
      const { name, version, license = '', repository, homepage } = await Bun.file(join(folder, 'package.json')).json()
      const stated: string = repository?.url ?? repository ?? homepage ?? ''
      const source = /^[\w.-]+\/[\w.-]+$/.test(stated) ? `https://github.com/${stated}` : stated
      return { name, version, license, source, texts: await textsIn(folder) }
    }),
  )

/** The packages in an executable, as its build wrote them beside it. Throws where it did not. */
export const packagesOf = async (executable: string): Promise<Component[]> => {
  const list = Bun.file(`${executable}.packages.json`)
  if (!(await list.exists())) {
    throw new Error(`There is no "${list.name}", which tells what stands in the executable: run bun ts/cli/build.ts.`)
  }
  return packagesIn((await list.json()) as string[])
}
