import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { version } from '@backlot/contract/version'
import { pack, type Tarball } from '../../ts/pack/folder.ts'
import { readTarballs } from '../../ts/pack/made.ts'
import { bindingFile } from '../../ts/pack/manifests.ts'
import { makePackages } from '../../ts/pack/packages.ts'
import { executablePackage, nativePackage } from '../../ts/pack/platforms.ts'
import { checksOf } from '../../ts/pack/release/checks.ts'
import { objections, planOf, publishPlan } from '../../ts/pack/release/plan.ts'
import { integrityOf, publishedIntegrity } from '../../ts/pack/release/registry.ts'
import { sizesTable } from '../../ts/pack/sizes.ts'
import { type NpmRegistry, startNpmRegistry } from '../support/npm-registry.ts'
import { executable, platform } from '../support/packages.ts'
import { packHere } from '../support/packed.ts'
import { scratchFolder } from '../support/scratch.ts'

const root = join(import.meta.dir, '../..')
const binaries = { executable: 'bin/backlot', binding: bindingFile(platform) }

/**
 * All packages: those that hold large files hold small ones in their place, the SDK and the native core's entry are those
 * of the whole run. The launcher is packed twice.
 */
let folder: string
let tarballs: readonly Tarball[]
let again: readonly Tarball[]
let registry: NpmRegistry

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-'))
  const parts = { platform, executable: join(folder, 'program'), binding: join(folder, 'core'), gzipLevel: 9 }
  await writeFile(parts.executable, '#!/bin/sh\necho in the place of the executable\n', { mode: 0o755 })
  await copyFile(`${executable}.packages.json`, `${parts.executable}.packages.json`)
  await writeFile(parts.binding, 'in the place of the native core')
  for (const name of ['once', 'again']) await mkdir(join(folder, name))
  registry = await startNpmRegistry()
  const small = [executablePackage(platform), 'backlot', nativePackage(platform)]
  const once = join(folder, 'once')
  const whole = await packHere(once, ['@backlot/native', '@backlot/sdk'])
  const copied = whole.map(async (tarball) => {
    const path = join(once, basename(tarball.path))
    if (path !== tarball.path) await copyFile(tarball.path, path)
    return { ...tarball, path }
  })
  tarballs = [...(await makePackages({ ...parts, out: once, names: small })), ...(await Promise.all(copied))]
  again = await makePackages({ ...parts, out: join(folder, 'again'), names: ['backlot'] })
})

afterAll(async () => {
  await registry[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const files = async ({ path }: Tarball) => new Bun.Archive(await readFile(path)).files()

const named = (name: string): Tarball => {
  const found = tarballs.find((tarball) => tarball.name === name)
  if (found === undefined) throw new Error(`no package "${name}"`)
  return found
}

test('the packages hold these files and no others', async () => {
  const held: Record<string, string[]> = {}
  for (const tarball of tarballs) {
    held[tarball.name] = [...(await files(tarball)).keys()]
      // The names of what scripts share end with a hash of it.
      .map((path) => path.replace(/^package\//, '').replace(/-[\w-]{8}\.js$/, '-HASH.js'))
      .filter((path, i, all) => all.indexOf(path) === i)
      .toSorted()
  }
  const always = ['LICENSE', 'README.md', 'package.json']
  expect(held).toEqual({
    [executablePackage(platform)]: [...always, 'THIRD-PARTY-NOTICES', binaries.executable].toSorted(),
    backlot: [
      ...always,
      'bin/start-HASH.js',
      'bin/backlot-driver.js',
      'bin/backlot.js',
      'bin/executable.d.ts',
      'bin/executable.js',
    ].toSorted(),
    [nativePackage(platform)]: [...always, 'THIRD-PARTY-NOTICES', binaries.binding].toSorted(),
    '@backlot/native': [...always, 'index.d.ts', 'index.js'].toSorted(),
    '@backlot/sdk': expect.arrayContaining([...always, 'THIRD-PARTY-NOTICES', 'index.d.ts', 'index.js']),
  })
})

const noticesOf = async (name: string): Promise<string> =>
  (await (await files(named(name))).get('package/THIRD-PARTY-NOTICES')?.text()) ?? ''

test('what a package holds of others stands in its notices, with the licenses', async () => {
  const listed = (notices: string): string[] => notices.match(/^\S.* \d+\.\d+\.\d+\S*$/gm) ?? []
  const ofSdk = await noticesOf('@backlot/sdk')
  expect(listed(ofSdk)[0]).toStartWith('@sinclair/typebox ')
  expect(ofSdk).toContain('Permission is hereby granted')

  // What cargo itself lists of the crates of others that are linked.
  const tree = ['tree', '--offline', '--locked', '--package', 'native', '--edges', 'normal,no-proc-macro']
  const told = Bun.spawnSync(['cargo', ...tree, '--target', platform.target, '--prefix', 'none'], { cwd: root })
  expect(told.exitCode).toBe(0)
  const linked = [...told.stdout.toString().matchAll(/^(\S+) v(\S+)(?: \(\*\))?$/gm)].map(
    (found) => `${found[1]} ${found[2]}`,
  )
  expect(linked.length).toBeGreaterThan(50)
  const ofBinding = await noticesOf(nativePackage(platform))
  expect(listed(ofBinding)).toEqual(expect.arrayContaining(linked))

  const ofExecutable = await noticesOf(executablePackage(platform))
  const names = listed(ofExecutable).map((each) => each.replace(/ \S+$/, ''))
  expect(names).toEqual(expect.arrayContaining(['Bun', 'Rust standard library', 'elysia', 'preact', '@novnc/novnc']))
  expect(listed(ofExecutable)).toEqual(expect.arrayContaining(linked))
  expect(ofExecutable).toContain('Mozilla Public License')
  expect(ofExecutable).toContain('GNU Lesser General Public License')
})

test('every package says whose it is and what it needs, and runs nothing when it is installed', async () => {
  for (const tarball of tarballs) {
    const { manifest } = tarball
    expect(manifest).toMatchObject({ version, license: 'MIT', repository: { type: 'git' } })
    expect(manifest.description).toMatch(/\w/)
    expect((manifest.repository as { url: string }).url).toMatch(/^git\+https:.*\.git$/)
    for (const field of ['scripts', 'devDependencies', 'private']) {
      expect({ name: tarball.name, has: field in manifest }).toEqual({ name: tarball.name, has: false })
    }
    const readme = await (await files(tarball)).get('package/README.md')?.text()
    expect(readme).toStartWith(`# ${tarball.name}\n`)
  }
  const only = { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }
  expect(named(executablePackage(platform)).manifest).toMatchObject(only)
  expect(named(nativePackage(platform)).manifest).toMatchObject(only)
  expect(named('backlot').manifest).toMatchObject({
    bin: { backlot: 'bin/backlot.js', 'backlot-driver': 'bin/backlot-driver.js' },
    engines: { node: '>=20' },
    optionalDependencies: { [executablePackage(platform)]: version },
  })
  expect(named('@backlot/sdk').manifest).toMatchObject({
    engines: { node: '>=20' },
    sideEffects: false,
    dependencies: { tar: expect.any(String), ws: expect.any(String) },
  })
})

test('no package names a folder of this machine, or one is refused', async () => {
  const here = [`${root}/`, `${homedir()}/.`]
  for (const tarball of tarballs) {
    for (const [path, file] of await files(tarball)) {
      const text = await file.text()
      expect({ path, names: here.filter((each) => text.includes(each)) }).toEqual({ path, names: [] })
      expect(path).not.toEndWith('.map')
    }
  }
  const traced = scratchFolder('traced')
  writeFileSync(join(traced, 'a.js'), `// ${root}/ts/a.ts`)
  const manifest = { name: 'traced', version, description: '' }
  const packed = pack(traced, manifest, { out: traced, gzipLevel: 1, isOwn: () => false })
  expect(packed).rejects.toThrow(`"a.js" names the folder "${root}"`)
})

test('packed again, they are the same bytes', async () => {
  for (const tarball of again) {
    expect({ name: tarball.name, hash: await integrityOf(tarball) }).toEqual({
      name: tarball.name,
      hash: await integrityOf(named(tarball.name)),
    })
  }
  expect(again).toHaveLength(1)
  expect(sizesTable(tarballs)).toContain(`@backlot/sdk@${version}`)
})

test('what was packed is found again, each after what it names', async () => {
  const made = await readTarballs(join(folder, 'once'))
  const order = made.tarballs.map(({ name }) => name)
  expect(order.toSorted()).toEqual(tarballs.map(({ name }) => name).toSorted())
  expect(order.indexOf('backlot')).toBeGreaterThan(order.indexOf(executablePackage(platform)))
  expect(order.indexOf('@backlot/native')).toBeGreaterThan(order.indexOf(nativePackage(platform)))
  expect(order.at(-1)).toBe('@backlot/sdk')
  for (const tarball of made.tarballs) {
    const { packedBytes, unpackedBytes } = named(tarball.name)
    expect(tarball).toMatchObject({ packedBytes, unpackedBytes })
    expect(packedBytes).toBe((await stat(tarball.path)).size)
  }
  expect(readTarballs(join(folder, 'nothing'))).rejects.toThrow('run ./dev pack')
})

test('a release that was interrupted goes on with what is not there, and never replaces what is', async () => {
  const { url } = registry
  const states = async () => (await planOf(url, tarballs)).map(({ state }) => state)
  expect(await states()).toEqual(tarballs.map(() => 'absent'))

  // A package whose other part is nowhere is not published.
  const alone = [named('backlot')]
  expect(await objections(url, await planOf(url, alone))).toEqual([
    `"backlot" names "${executablePackage(platform)}@${version}", which is not published: pack it on its platform first.`,
  ])
  expect(await objections(url, await planOf(url, tarballs))).toEqual([])

  // It ends after the second package.
  const said: string[] = []
  const interrupted = publishPlan(url, await planOf(url, tarballs), (line) => {
    said.push(line)
    if (said.length === 2) throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  expect(await states()).toEqual(['there', 'there', 'absent', 'absent', 'absent'])

  const rest: string[] = []
  await publishPlan(url, await planOf(url, tarballs), (line) => rest.push(line))
  expect(rest.map((line) => line.replace(/^.*@[\d.]+ /, ''))).toEqual([
    'is there already',
    'is there already',
    'is published',
    'is published',
    'is published',
  ])
  for (const tarball of tarballs) {
    expect(await publishedIntegrity(url, tarball.name, version)).toBe(await integrityOf(tarball))
  }

  // Other bytes under the same version.
  const other = join(scratchFolder('other'), basename(named('backlot').path))
  await writeFile(other, 'something else')
  const differs = await planOf(url, [{ ...named('backlot'), path: other }])
  expect(await objections(url, differs)).toEqual([
    `"backlot@${version}" is published with other content: raise the version in package.json.`,
  ])
  expect(publishedIntegrity('http://127.0.0.1:1', 'backlot', version)).rejects.toThrow()
})

test('a checkout is refused until all is committed, told in the changelog, of one version, and tested', () => {
  const checkout = scratchFolder('checkout')
  const write = (path: string, text: string) => {
    mkdirSync(join(checkout, path, '..'), { recursive: true })
    writeFileSync(join(checkout, path), text, { mode: 0o755 })
  }
  const git = (...words: string[]) => {
    const as = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'commit.gpgsign=false']
    const { exitCode, stderr } = Bun.spawnSync(['git', ...as, ...words], { cwd: checkout })
    expect({ words, exitCode, stderr: exitCode === 0 ? '' : stderr.toString() }).toMatchObject({ exitCode: 0 })
  }
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--message', 'a')
  }
  const against = () =>
    checksOf(checkout, '1.2.3', join(checkout, 'program')).flatMap(({ objection }) => objection ?? [])
  git('init', '--quiet')
  write('program', '#!/bin/sh\necho backlot 1.2.2\n')
  write('ts/a/package.json', '{ "version": "1.2.2" }')
  write('Cargo.toml', '[workspace.package]\nversion = "1.2.3"\n')
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.3 (unreleased)\n')
  commit()
  write('new', '')
  expect(against()).toEqual([
    '1 files differ from the last commit: commit or remove them.',
    'ts/a/package.json do not say 1.2.3: run ./dev gen.',
    'CHANGELOG.md calls 1.2.3 unreleased: put the date there.',
    'No run of the tests is recorded: run ./dev test --record and commit what it writes.',
  ])
  write('ts/a/package.json', '{ "version": "1.2.3" }')
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.3 (2026-11-22)\n')
  write('tests/times.txt', '1 a\n')
  commit()
  expect(against()).toEqual(['the executable says "backlot 1.2.2", not 1.2.3: run ./dev pack.'])
  write('program', '#!/bin/sh\necho backlot 1.2.3\n')
  commit()
  expect(against()).toEqual([])
  appendFileSync(join(checkout, 'ts/a/package.json'), '\n')
  commit()
  expect(against()).toEqual([expect.stringMatching(/^1 files differ from \w+, whose tests are recorded/)])
  write('CHANGELOG.md', '# Changelog\n')
  commit()
  expect(against()).toContain('CHANGELOG.md has no "## 1.2.3".')
})

test('`./dev release` prints what it would publish, why it may not, and publishes nothing', async () => {
  const command = [process.execPath, join(root, 'ts/pack/release.ts'), '--packages', join(folder, 'once')]
  await using empty = await startNpmRegistry()
  const child = Bun.spawn([...command, '--registry', empty.url], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const status = await child.exited
  for (const { name } of tarballs) {
    expect(out).toContain(`  publish: ${name}@${version}\n`)
    expect(await publishedIntegrity(empty.url, name, version)).toBeNull()
  }
  // This checkout is as it is: what is said against it is said on standard error.
  expect(status === 0).toBe(said === '')
})
