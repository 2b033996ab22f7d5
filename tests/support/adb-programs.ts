/** `adb` and `adbd` as Debian has them, unpacked and never installed, fetched at the first run and kept. */
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

/** What the two programs are made of; what else they need every Debian has. */
const packages = [
  'adb',
  'adbd',
  'android-libbase',
  'android-libboringssl',
  'android-libcutils',
  'android-liblog',
  'android-libziparchive',
  'libbrotli1',
  'liblz4-1',
  'libprotobuf32',
  'libusb-1.0-0',
  'libzstd1',
]

/** Where they stand. */
export interface AdbPrograms {
  readonly adb: string
  readonly adbd: string
  /** Folders of their libraries, for `LD_LIBRARY_PATH`. */
  readonly libraries: string
}

/** The programs; a machine that is no Debian, or reaches no archive, is told so. */
export const adbPrograms = async (): Promise<AdbPrograms> => {
  const folder = join(kept, 'adb')
  if (!existsSync(folder)) await fetch(folder)
  const libraries = `${folder}/usr/lib/x86_64-linux-gnu`.replace(
    'x86_64',
    process.arch === 'arm64' ? 'aarch64' : 'x86_64',
  )
  return {
    adb: join(folder, 'usr/lib/android-sdk/platform-tools/adb'),
    adbd: join(folder, 'usr/lib/android-sdk/platform-tools/adbd'),
    libraries: `${libraries}/android:${libraries}`,
  }
}

const fetch = async (folder: string): Promise<void> => {
  mkdirSync(kept, { recursive: true })
  const next = mkdtempSync(`${folder}.`)
  try {
    mkdirSync(join(next, 'apt/lists/partial'), { recursive: true })
    mkdirSync(join(next, 'apt/cache/archives/partial'), { recursive: true })
    mkdirSync(join(next, 'deb'))
    const codename = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? ''
    const list = join(next, 'apt/sources.list')
    writeFileSync(list, sourcesOf(codename))
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
    await finish(
      ['apt-get', ...options, '-qq', '-t', `${codename}-backports`, 'download', ...packages],
      join(next, 'deb'),
    )
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

/** The archive of the machine's own configuration, with the backports, in which the programs stand. */
const sourcesOf = (codename: string): string => {
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
  return [codename, `${codename}-backports`]
    .map((suite) => `deb [signed-by=${key}] ${address} ${suite} main\n`)
    .join('')
}

const finish = async (command: readonly string[], cwd: string): Promise<void> => {
  const child = Bun.spawn([...command], { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.slice(0, 2).join(' ')}: ${stdout}${stderr}`)
}
