/** The recipe of the desktop's image: the files that it is built from, and their hash. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { UnsupportedError } from '../../errors.ts'
import { findExecutable } from '../../local/executable.ts'
import { type ArchiveFile, fileOf } from './archive.ts'
import { recipeFiles } from './recipe-files.ts'

/** The context of a build, and what tells it from any other. */
export interface Recipe {
  readonly files: readonly ArchiveFile[]
  /** SHA-256 in hexadecimal digits, of all files and of what they are built on. */
  readonly hash: string
}

/** Processors by the names of Node and of engines. */
const processors: Readonly<Record<string, readonly string[]>> = {
  x64: ['x86_64', 'amd64'],
  arm64: ['aarch64', 'arm64'],
}

/** The recipe with this machine's executable; throws `unsupported` where that does not run in the engine's containers. */
export const desktopRecipe = async (base: string, engineProcessor: string): Promise<Recipe> => {
  const fits = process.platform === 'linux' && processors[process.arch]?.includes(engineProcessor)
  if (!fits) {
    throw new UnsupportedError(
      `The desktop's image holds the executable of this machine (${process.platform} ${process.arch}), which does not run in the engine's containers (linux ${engineProcessor}). Build docker/desktop on such a machine and name it: Image.fromRegistry(…).`,
    )
  }
  const path = await findExecutable()
  const { size } = await stat(path)
  const texts = recipeFiles.map(([name, mode, content]) => fileOf(name, Buffer.from(content, 'base64'), mode))
  const program: ArchiveFile = { path: 'dist/backlot', mode: 0o755, size, content: () => createReadStream(path) }
  const files = [...texts, program]
  const hash = createHash('sha256').update(JSON.stringify([base, recipeFiles, size]))
  for await (const piece of program.content()) hash.update(piece)
  return { files, hash: hash.digest('hex') }
}
