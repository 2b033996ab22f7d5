/** Programs out of unpacked packages, with the libraries that they load. */
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { elfNeeds } from './elf.ts'

/** Where Debian's loader looks for libraries on every architecture that it has. */
const libraryFolder = '/lib/x86_64-linux-gnu'

/** Copies each program (a path of the guest) from `unpacked` to `root`, with the libraries and the loader it needs. */
export const placePrograms = async (programs: readonly string[], unpacked: string, root: string): Promise<void> => {
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true })
  const libraries = entries.filter((entry) => !entry.isDirectory() && /\.so(\.|$)/.test(entry.name))
  const byName = new Map(libraries.map(({ name, parentPath }) => [name, join(parentPath, name)]))
  const placed = new Set<string>()
  const place = async (path: string): Promise<void> => {
    if (placed.has(path)) return
    placed.add(path)
    const source = byName.get(basename(path)) ?? placeOf(path, unpacked)
    if (source === undefined) {
      throw new Failure('image_not_built', `No package has the file "${basename(path)}" that the image needs.`, {
        file: path,
      })
    }
    const target = join(root, path)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(await realpath(source), target)
    await chmod(target, 0o755)
    const needs = elfNeeds(new Uint8Array(await readFile(target)))
    for (const library of needs?.libraries ?? []) await place(join(libraryFolder, library))
    if (needs?.interpreter !== undefined) await place(needs.interpreter)
  }
  for (const path of programs) await place(path)
}

/** Releases differ in whether a program stands under /usr. */
const placeOf = (path: string, unpacked: string): string | undefined =>
  [path, `/usr${path}`, path.replace(/^\/usr/, '')].map((each) => join(unpacked, each)).find(existsSync)
