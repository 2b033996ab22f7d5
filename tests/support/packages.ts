/** The packages that users install, packed of what the tests run, and projects that have them. */
import { afterAll, beforeAll } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tarball } from '../../ts/pack/folder.ts'
import { planOf, publishPlan } from '../../ts/pack/release/plan.ts'
import { npmCommand } from './npm-packages.ts'
import { type NpmRegistry, startNpmRegistry } from './npm-registry.ts'
import { packHere } from './packed.ts'

export { executable, platform } from './packed.ts'

/** Packages in a registry of this test file's own. */
export interface Published {
  readonly tarballs: readonly Tarball[]
  readonly registry: NpmRegistry
  /** A new folder below which everything stands that this test file makes. */
  folder(name: string): Promise<string>
  /** A project with packages from the registry, installed by npm or by bun; gives its folder. */
  project(by: 'npm' | 'bun', packages: readonly string[], ...flags: string[]): Promise<string>
}

/** Packs and publishes before the first test of a file; `names` are the packages, all unless given. */
export const publishedPackages = (names?: readonly string[]): (() => Published) => {
  let published: Published | undefined
  let home = ''
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'packages-'))
    const folder = (name: string) => mkdtemp(join(home, `${name}-`))
    const [registry, tarballs] = await Promise.all([startNpmRegistry(), packHere(await folder('packed'), names)])
    published = { tarballs, registry, folder, project: (...asked) => projectIn(registry, home, ...asked) }
    await publishPlan(registry.url, await planOf(registry.url, tarballs), () => undefined)
  }, 120_000)
  afterAll(async () => {
    await published?.registry[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  }, 60_000)
  return () => {
    if (published === undefined) throw new Error('the packages are there only while tests run')
    return published
  }
}

const projectIn = async (
  registry: NpmRegistry,
  home: string,
  by: 'npm' | 'bun',
  packages: readonly string[],
  ...flags: string[]
): Promise<string> => {
  const folder = await mkdtemp(join(home, `${by}-`))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const install =
    by === 'npm'
      ? [
          ...(await npmCommand(20, 'npm')),
          'install',
          '--no-audit',
          '--no-fund',
          '--loglevel=error',
          ...flags,
          ...packages,
        ]
      : [process.execPath, 'add', ...flags, ...packages]
  const child = Bun.spawn(install, {
    cwd: folder,
    env: { ...process.env, ...registry.env, NPM_CONFIG_TOKEN: undefined, HOME: home },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${install.join(' ')}: ${out}${said}`)
  return folder
}
