/** Programs as Debian has them, unpacked and never installed, fetched at the first run and kept. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const kept = join(import.meta.dir, '../../target/clients')

/** The folder into which these packages are unpacked, `fromBackports` where they are newer there; names a folder of `target/clients`. */
export const unpacked = async (
  name: string,
  packages: readonly string[],
  { fromBackports = false }: { fromBackports?: boolean } = {},
): Promise<string> => {
  const folder = join(kept, name)
  if (!existsSync(folder)) await fetch(folder, packages, fromBackports)
  return folder
}

/** The folder of libraries below a root, by this machine's kind. */
export const librariesIn = (folder: string): string =>
  join(folder, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)

const fetch = async (folder: string, packages: readonly string[], fromBackports: boolean): Promise<void> => {
  mkdirSync(kept, { recursive: true })
  const next = mkdtempSync(`${folder}.`)
  try {
    mkdirSync(join(next, 'apt/lists/partial'), { recursive: true })
    mkdirSync(join(next, 'apt/cache/archives/partial'), { recursive: true })
    mkdirSync(join(next, 'deb'))
    const codename = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? ''
    const list = join(next, 'apt/sources.list')
    writeFileSync(list, sourcesOf(fromBackports ? [codename, `${codename}-backports`] : [codename]))
    const options = [
      ['Dir::Etc::sourcelist', list],
      ['Dir::Etc::sourceparts', '-'],
      ['Dir::State::lists', join(next, 'apt/lists')],
      ['Dir::Cache', join(next, 'apt/cache')],
      ['APT::Get::List-Cleanup', '0'],
      // An archive of a day in the past is as good.
      ['Acquire::Check-Valid-Until', 'false'],
      ['APT::Sandbox::User', 'root'],
    ].flatMap(([name, value]) => ['-o', `${name}=${value}`])
    await finish(['apt-get', ...options, '-qq', 'update'], next)
    const suite = fromBackports ? ['-t', `${codename}-backports`] : []
    await finish(['apt-get', ...options, '-qq', ...suite, 'download', ...packages], join(next, 'deb'))
    for (const file of readdirSync(join(next, 'deb')))
      await finish(['dpkg-deb', '-x', join(next, 'deb', file), next], next)
    for (const part of ['apt', 'deb']) rmSync(join(next, part), { recursive: true })
    renameSync(next, folder)
  } catch (error) {
    rmSync(next, { recursive: true, force: true })
    // Another test may have been first.
    if (!existsSync(folder)) throw error
  }
}

/** The archive of the machine's own configuration, in these suites. */
const sourcesOf = (suites: readonly string[]): string => {
  const lists = [
    '/etc/apt/sources.list',
    ...new Bun.Glob('/etc/apt/sources.list.d/*.{list,sources}').scanSync({ absolute: true }),
  ]
  const text = lists.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'))
  const address = text
    .map((each) => /^(?:URIs:|deb (?:\[[^\]]*\] )?)\s*(\S+)/m.exec(each)?.[1])
    .find((each) => each !== undefined)
  if (address === undefined) throw new Error('no archive of Debian stands in /etc/apt')
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg'
  return suites.map((suite) => `deb [signed-by=${key}] ${address} ${suite} main\n`).join('')
}

const finish = async (command: readonly string[], cwd: string): Promise<void> => {
  const child = Bun.spawn([...command], { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.slice(0, 2).join(' ')}: ${stdout}${stderr}`)
}
