/** The packages that users install, made of what is built. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { declarationsOf } from './declarations.ts'
import { begin, pack, place, type Tarball } from './folder.ts'
import {
  bindingFile,
  bindingManifest,
  executableManifest,
  launcherManifest,
  type Manifest,
  nativeManifest,
  sdkManifest,
} from './manifests.ts'
import { bindingNotices, executableNotices } from './notices/binaries.ts'
import { noticesFile } from './notices/notices.ts'
import { nativePackage, type Platform, platforms } from './platforms.ts'
import { buildScripts } from './scripts.ts'
import { importedBy, root, workspace } from './workspace.ts'

/** The executable in its package. */
const executablePath = 'bin/backlot'

/** What packages are made of, and where. */
export interface PackageSources {
  /** The folder for the tarballs; it is there. */
  readonly out: string
  /** The platform of the executable and of the native core. */
  readonly platform: Platform
  readonly executable: string
  /** The native core. */
  readonly binding: string
  /** Names of the packages to make, all unless given. */
  readonly names?: readonly string[]
  /** 0 to 9. */
  readonly gzipLevel: number
  /** The executable and the native core are of a quick build, for tests here: they name folders of this machine. */
  readonly isQuickBuild?: boolean
}

/** How a package is made: its manifest, the README it gets, and what fills its folder. */
interface Recipe {
  readonly manifest: Manifest
  readonly readme: string
  readonly fill: (folder: string) => Promise<unknown>
}

/** All packages, in the order in which they are published: none names one that comes after it. */
const recipesOf = ({ platform, executable, binding }: PackageSources): readonly Recipe[] => [
  {
    manifest: executableManifest(workspace, platform),
    readme: 'cli',
    fill: async (folder) => {
      await place(executable, join(folder, executablePath))
      await writeFile(join(folder, noticesFile), await executableNotices(platform, executable))
    },
  },
  {
    manifest: launcherManifest(workspace, platforms),
    readme: 'backlot',
    fill: (folder) => fillLauncher(join(folder, 'bin')),
  },
  {
    manifest: bindingManifest(workspace, platform),
    readme: 'binding',
    fill: async (folder) => {
      await place(binding, join(folder, bindingFile(platform)))
      await writeFile(join(folder, noticesFile), await bindingNotices(platform))
    },
  },
  { manifest: nativeManifest(workspace, platforms), readme: 'native', fill: fillNative },
  { manifest: sdkManifest(workspace, importedBy('sdk')), readme: 'sdk', fill: fillSdk },
]

/** Makes the tarballs, in the order in which they are published: none names one that comes after it. */
export const makePackages = async (parts: PackageSources): Promise<Tarball[]> => {
  const { out, platform, names, gzipLevel, isQuickBuild = false } = parts
  const staged = await mkdtemp(join(out, '.staged-'))
  const isOwn = (file: string) => isQuickBuild && [executablePath, bindingFile(platform)].includes(file)
  const tarballs = recipesOf(parts)
    .filter(({ manifest }) => names?.includes(manifest.name) ?? true)
    .map(async ({ manifest, readme, fill }) => {
      const folder = join(staged, manifest.name)
      await begin(folder, manifest, await readmeOf(readme, manifest, platform))
      await fill(folder)
      return pack(folder, manifest, { out, gzipLevel, isOwn })
    })
  try {
    return await Promise.all(tarballs)
  } finally {
    await Promise.allSettled(tarballs)
    await rm(staged, { recursive: true, force: true })
  }
}

const readmeOf = async (name: string, manifest: Manifest, platform: Platform): Promise<string> => {
  const text = await readFile(join(root, 'ts/pack/readme', `${name}.md`), 'utf8')
  return text.replaceAll('PACKAGE', manifest.name).replaceAll('PLATFORM', platform.name)
}

const fillLauncher = async (folder: string): Promise<void> => {
  await mkdir(folder)
  const entries = ['backlot', 'backlot-driver', 'executable'].map((name) => `ts/pack/launcher/${name}.ts`)
  await buildScripts({ entries, folder })
  await writeFile(join(folder, 'executable.d.ts'), await declarationsOf('ts/pack/launcher/executable.ts'))
}

const fillNative = async (folder: string): Promise<void> => {
  const elsewhere = Object.fromEntries(
    platforms.map((platform) => [`./${bindingFile(platform)}`, nativePackage(platform)]),
  )
  await buildScripts({ entries: ['ts/native/index.ts'], folder, elsewhere })
  await writeFile(join(folder, 'index.d.ts'), await declarationsOf('ts/native/index.ts'))
}

const fillSdk = async (folder: string): Promise<void> => {
  const scripts = { entries: ['ts/sdk/index.ts'], external: Object.keys(importedBy('sdk')) }
  await buildScripts({ ...scripts, folder })
  await buildScripts({ ...scripts, folder: join(folder, 'fetch-only'), isFetchOnly: true })
  await writeFile(join(folder, 'index.d.ts'), await declarationsOf('ts/sdk/index.ts'))
}
