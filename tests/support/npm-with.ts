/** A package from npm in a folder of its own, made at the first run and kept. */
import { existsSync, mkdirSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

const kept = join(import.meta.dir, '../../target/clients')

/** The one client of a computer server that is on npm. */
export const npmComputer = '@trycua/computer@0.1.3'

/** The folder in which scripts find the package. */
export const npmWith = async (name: string): Promise<string> => {
  const folder = join(kept, `npm-${name.replaceAll('/', '-')}`)
  const done = join(folder, 'done')
  if (existsSync(done)) return folder
  mkdirSync(folder, { recursive: true })
  await Bun.write(join(folder, 'package.json'), JSON.stringify({ name: 'client', private: true, type: 'module' }))
  const child = Bun.spawn([process.execPath, 'add', '--exact', '--ignore-scripts', name], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`bun add ${name}: ${said}`)
  await Bun.write(done, '')
  return folder
}

/** Path of a script of `tests/support/fixtures` from which it finds the package. */
export const scriptWith = async (name: string, script: string): Promise<string> => {
  const path = join(await npmWith(name), basename(script))
  await copyFile(join(import.meta.dir, 'fixtures', script), path)
  return path
}
