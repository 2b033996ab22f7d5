/** The packages that users install, packed once for all test files that install them. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tarball } from '../../ts/pack/folder.ts'
import { bindingFile } from '../../ts/pack/manifests.ts'
import { makePackages } from '../../ts/pack/packages.ts'
import { platformHere } from '../../ts/pack/platforms.ts'
import { files, root } from '../shape/sources.ts'

/** The platform here. Throws where nothing is built for it. */
export const platform = platformHere() ?? fail(`nothing is built for ${process.platform}-${process.arch}`)

function fail(reason: string): never {
  throw new Error(reason)
}

/** The executable under test: users get no sources. */
export const executable = process.env.BACKLOT_BIN || join(root, 'dist/backlot')

const binding = join(root, 'ts/native', bindingFile(platform))
const kept = join(root, 'target/packed')

/** Packs packages into a folder, all unless named, quickly: what is packed here is for tests. */
const pack = (out: string, names?: readonly string[]): Promise<Tarball[]> =>
  makePackages({
    ...{ out, platform, executable, binding, gzipLevel: 1, isQuickBuild: true },
    ...(names === undefined ? {} : { names }),
  })

/** Names what the packages are made of: the programs, all sources, and the versions of what they import. */
const contents = async (): Promise<string> => {
  const sources = files.filter((file) => /^(ts\/|package\.json$|bun\.lock$|Cargo\.lock$|LICENSE)/.test(file))
  const hash = new Bun.CryptoHasher('sha256')
  for (const path of [executable, binding, ...sources.map((file) => join(root, file))]) {
    hash.update(`${path}\0`)
    hash.update(await readFile(path))
  }
  return hash.digest('hex')
}

/** Packs all packages, unless what was packed before is of the same contents. */
export const packOnce = async (): Promise<void> => {
  const folder = join(kept, await contents())
  if (existsSync(folder)) return
  const before = await readdir(kept).catch(() => [])
  await mkdir(kept, { recursive: true })
  const unfinished = await mkdtemp(join(kept, '.unfinished-'))
  const tarballs = await pack(unfinished)
  const moved = tarballs.map((tarball) => ({ ...tarball, path: tarball.path.replace(unfinished, folder) }))
  await writeFile(join(unfinished, 'tarballs.json'), JSON.stringify(moved))
  await rename(unfinished, folder)
  await Promise.all(before.map((name) => rm(join(kept, name), { recursive: true, force: true })))
}

/** The packages, all unless named, in the order in which they are published; made in `out` where none are kept. */
export const packHere = async (out: string, names?: readonly string[]): Promise<Tarball[]> => {
  const list = join(kept, await contents(), 'tarballs.json')
  if (!existsSync(list)) return pack(out, names)
  const all = JSON.parse(await readFile(list, 'utf8')) as Tarball[]
  return all.filter(({ name }) => names?.includes(name) ?? true)
}
