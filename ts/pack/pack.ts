/** `./dev pack`: makes into `dist/packages` what users install, of the release build, and prints the sizes. */
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { bindingFile } from './manifests.ts'
import { makeBundle, registryEntry } from './mcp.ts'
import { makePackages } from './packages.ts'
import { platformHere } from './platforms.ts'
import { sizesTable } from './sizes.ts'
import { root, workspace } from './workspace.ts'

const platform = platformHere()
if (platform === undefined) {
  console.error(
    `No executable is built for "${process.platform}-${process.arch}": pack on a platform of ts/pack/platforms.ts.`,
  )
  process.exit(1)
}

const packages = join(root, 'dist/packages')
const executable = join(root, 'dist/backlot')
await mkdir(join(root, 'dist'), { recursive: true })
const out = await mkdtemp(`${packages}.`)
try {
  const [tarballs, bundle] = await Promise.all([
    makePackages({
      ...{ out, platform, executable, gzipLevel: 9 },
      binding: join(root, 'ts/native', bindingFile(platform)),
    }),
    makeBundle(workspace, platform, executable, out),
  ])
  const entry = await registryEntry(workspace, platform, bundle)
  await writeFile(join(out, 'server.json'), `${JSON.stringify(entry, null, 2)}\n`)
  await chmod(out, 0o755)
  await rm(packages, { recursive: true, force: true })
  await rename(out, packages)
  console.log(sizesTable(tarballs))
  console.log(`in ${relative(root, packages)}, with ${basename(bundle)} and server.json`)
} finally {
  await rm(out, { recursive: true, force: true })
}
