/** The executable of another version, built from these sources. */
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json'

const root = join(import.meta.dir, '../..')

/** The version that it says it has. */
const version = '0.0.9'

/** Builds it below a folder that is not there yet, and gives its path. */
export const buildOtherVersion = async (folder: string): Promise<string> => {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@backlot'), { recursive: true })
  for (const part of ['ts', 'images', 'docker', 'tsconfig.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@backlot') symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  // Not the packages of the workspace: those would be of this version.
  for (const name of readdirSync(join(folder, 'ts')))
    symlinkSync(join(folder, 'ts', name), join(modules, '@backlot', name))
  const build = Bun.spawn([process.execPath, join(folder, 'ts/cli/build.ts')], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [said, status] = await Promise.all([build.stderr.text(), build.exited])
  if (status !== 0) throw new Error(`the other version was not built: ${said}`)
  return join(folder, 'dist/backlot')
}
