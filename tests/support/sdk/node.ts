/** Node 20 or later: the one on PATH, else that of npm, which is installed once. */
import { join } from 'node:path'

const oldest = 20

const version = (program: string): number => {
  try {
    const said = Bun.spawnSync([program, '--version']).stdout.toString()
    return Number(/^v(\d+)\./.exec(said)?.[1] ?? 0)
  } catch {
    return 0
  }
}

let found: Promise<string> | undefined

/** Its path. */
export const nodeProgram = (): Promise<string> => {
  found ??= find()
  return found
}

const find = async (): Promise<string> => {
  const here = Bun.which('node')
  if (here !== null && version(here) >= oldest) return here
  const folder = join(import.meta.dir, '../../../target/clients/node')
  const program = join(folder, `node_modules/node-linux-${process.arch}/bin/node`)
  if (version(program) >= oldest) return program
  const words = ['npm', 'install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  const { exitCode, stderr } = Bun.spawnSync([...words, `node-linux-${process.arch}@${oldest}`])
  if (exitCode !== 0) throw new Error(`npm gave no Node: ${stderr}`)
  return program
}
