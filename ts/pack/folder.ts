/** The folder of a package before it is packed, and the tarball made of it. */
import { copyFile, link, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Manifest } from './manifests.ts'
import { root } from './workspace.ts'

/** A tarball that was made. */
export interface Tarball {
  readonly name: string
  readonly version: string
  readonly manifest: Manifest
  /** Path of the file. */
  readonly path: string
  readonly packedBytes: number
  readonly unpackedBytes: number
  readonly files: number
}

/** Puts a file at a path, without a copy where the file system allows it. */
export const place = async (from: string, to: string): Promise<void> => {
  await mkdir(dirname(to), { recursive: true })
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to)
  }
}

/** Writes what every package has: its manifest, the license, and a README of its own. */
export const begin = async (folder: string, manifest: Manifest, readme: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await writeFile(join(folder, 'README.md'), readme)
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/**
 * Packs a folder into a `.tgz` in `out`, the same bytes for the same files. Throws where a file names a folder of this
 * machine, those that `isOwn` tells apart aside.
 */
export const pack = async (
  folder: string,
  manifest: Manifest,
  { out, gzipLevel, isOwn }: { out: string; gzipLevel: number; isOwn: (file: string) => boolean },
): Promise<Tarball> => {
  await refuseTraces(folder, isOwn)
  const command = ['pm', 'pack', '--quiet', '--destination', out, '--gzip-level', String(gzipLevel)]
  const child = Bun.spawn([process.execPath, ...command], { cwd: folder, stdout: 'ignore', stderr: 'pipe' })
  const said = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`"${manifest.name}" cannot be packed: ${said}`)
  const path = join(out, `${manifest.name.replace(/^@/, '').replace('/', '-')}-${manifest.version}.tgz`)
  const files = await filesIn(folder)
  return tarballOf(path, manifest, await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size)))
}

/** What is said of a tarball that holds files of these sizes. */
export const tarballOf = async (path: string, manifest: Manifest, sizes: readonly number[]): Promise<Tarball> => ({
  name: manifest.name,
  version: manifest.version,
  manifest,
  path,
  packedBytes: (await stat(path)).size,
  unpackedBytes: sizes.reduce((sum, size) => sum + size, 0),
  files: sizes.length,
})

/** Paths of the files below a folder, from it. */
export const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

/** Folders of this machine that nothing published may name. */
const traces = [root, join(homedir(), '.cargo'), join(homedir(), '.bun'), join(tmpdir(), 'backlot')]

const refuseTraces = async (folder: string, isOwn: (file: string) => boolean): Promise<void> => {
  for (const file of await filesIn(folder)) {
    if (isOwn(file)) continue
    const bytes = await readFile(join(folder, file))
    const found = traces.find((trace) => bytes.includes(`${trace}/`))
    if (found !== undefined) {
      throw new Error(`"${file}" names the folder "${found}" of this machine. Build it with ./dev build --release.`)
    }
  }
}
