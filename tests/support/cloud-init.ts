/** cloud-init as Debian has it, unpacked and never installed: what it says of a document, and what it makes of one. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pythonWith } from './python-with.ts'

const kept = join(import.meta.dir, '../../target/clients')
const fixtures = join(import.meta.dir, 'fixtures')

/** Runs a program to its end; throws with what it wrote where it fails. */
const finish = async (command: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) => {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', ...options })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** The folder of its modules, fetched at the first run and kept. */
const modules = async (): Promise<string> => {
  const folder = join(kept, 'cloud-init')
  if (!existsSync(folder)) {
    const next = join(kept, `cloud-init.${process.pid}`)
    mkdirSync(next, { recursive: true })
    const fetch = () => finish(['apt-get', 'download', '-q', 'cloud-init'], { cwd: next })
    await fetch().catch(async () => {
      await finish(['apt-get', 'update', '-qq'])
      await fetch()
    })
    const [file = ''] = [...new Bun.Glob('cloud-init_*.deb').scanSync({ cwd: next })]
    await finish(['dpkg-deb', '-x', join(next, file), next])
    try {
      renameSync(next, folder)
    } catch (error) {
      // Another test was first.
      rmSync(next, { recursive: true })
      if (!existsSync(folder)) throw error
    }
  }
  return join(folder, 'usr/lib/python3/dist-packages')
}

const packages = ['configobj==5.0.9', 'jsonpatch==1.33', 'jsonschema==4.23.0', 'pyyaml==6.0.2', 'requests==2.32.3']

/** A Python that has it, with its environment. */
const program = async () => ({
  python: await pythonWith(...packages),
  env: { ...(process.env as Record<string, string>), PYTHONPATH: await modules(), PYTHONDONTWRITEBYTECODE: '1' },
})

/** Has cloud-init check files of user data against its schema; throws with what it says of one that is not valid. */
export const checkSchema = async (files: readonly string[]): Promise<void> => {
  const { python, env } = await program()
  const said = await finish([python, join(fixtures, 'cloud_init_schema.py'), ...files], { env })
  const valid = said.split('\n').filter((line) => line.startsWith('Valid cloud-config:'))
  if (valid.length !== files.length || said.includes('Cloud config schema deprecations')) throw new Error(said)
}

/**
 * Has cloud-init's own code carry out user data where all that is written below /etc, /opt, /run, /srv and /var/lib/cloud is
 * thrown away, and then runs a script there; gives what the script prints.
 */
export const afterCloudInit = async (userData: string, script: string): Promise<string> => {
  const { python, env } = await program()
  return finish([join(fixtures, 'throw-away.sh'), python, join(fixtures, 'cloud_init_apply.py'), userData, script], {
    env,
  })
}
