/** What `./dev pack` has made. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Tarball, tarballOf } from './folder.ts'
import type { Manifest } from './manifests.ts'

/** What a folder of packages holds. */
export interface PackedFiles {
  /** In the order in which they are published: none names one that comes after it. */
  readonly tarballs: readonly Tarball[]
  /** Names of the bundles for MCP hosts. */
  readonly bundles: readonly string[]
}

/** Reads a folder that `./dev pack` wrote. Throws where there is none. */
export const readTarballs = async (folder: string): Promise<PackedFiles> => {
  const names = await readdir(folder).catch(() => [])
  const tarballs = await Promise.all(
    names.filter((name) => name.endsWith('.tgz')).map((name) => readTarball(join(folder, name))),
  )
  if (tarballs.length === 0) throw new Error(`There is no package in "${folder}": run ./dev pack.`)
  return {
    tarballs: namedFirst(tarballs.toSorted((a, b) => (a.name < b.name ? -1 : 1))),
    bundles: names.filter((name) => name.endsWith('.mcpb')).toSorted(),
  }
}

/** The packages of ours that a package names, with the versions. */
export const namedBy = ({ manifest }: Tarball): [name: string, version: string][] =>
  Object.entries({ ...manifest.optionalDependencies, ...manifest.peerDependencies })

/** The same tarballs, each after those that it names. */
const namedFirst = (tarballs: readonly Tarball[]): Tarball[] => {
  const ordered = new Set<Tarball>()
  const add = (tarball: Tarball): void => {
    const named = new Set(namedBy(tarball).map(([name]) => name))
    for (const other of tarballs) if (named.has(other.name) && !ordered.has(other)) add(other)
    ordered.add(tarball)
  }
  for (const tarball of tarballs) if (!ordered.has(tarball)) add(tarball)
  return [...ordered]
}

const readTarball = async (path: string): Promise<Tarball> => {
  const files = await new Bun.Archive(await readFile(path)).files()
  const manifest = JSON.parse((await files.get('package/package.json')?.text()) ?? 'null') as Manifest
  return tarballOf(
    path,
    manifest,
    [...files.values()].map(({ size }) => size),
  )
}
