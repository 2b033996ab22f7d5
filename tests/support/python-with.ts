/** Python with a package from PyPI, in an environment of its own that is made at the first run and kept. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { python } from './applications.ts'

const kept = join(import.meta.dir, '../../target/clients')

/** The program `python` of an environment with these packages (`mcp==2.3.0`), beside which theirs stand. */
export const pythonWith = async (...packages: readonly string[]): Promise<string> => {
  const folder = join(kept, `python-${packages.join('-')}`)
  const program = join(folder, 'bin', 'python')
  const done = join(folder, 'done')
  if (existsSync(done)) return program
  mkdirSync(kept, { recursive: true })
  for (const command of [
    [python, '-m', 'venv', folder],
    [program, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages],
  ]) {
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
    const said = await child.stderr.text()
    if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${said}`)
  }
  await Bun.write(done, '')
  return program
}
