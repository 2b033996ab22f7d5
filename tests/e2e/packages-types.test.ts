import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFolder, npmPackages } from '../support/npm-packages.ts'
import { packHere } from '../support/packed.ts'

const programs = join(import.meta.dir, '../sdk-types')

/** A folder with the packages as they are installed, and nothing of this workspace. */
let project: string
/** The compiler of this workspace, and the last one before it was written anew. */
let current: Compiler
let former: Compiler

type Compiler = readonly [version: string, command: readonly string[]]

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'types-'))
  const packed = join(project, 'packed')
  await mkdir(packed)
  const [modules, node] = await Promise.all([
    npmPackages({
      'typescript-7': 'npm:typescript@7.0.2',
      'typescript-5': 'npm:typescript@5.9.3',
      '@types/node': '20.19.25',
    }),
    nodeFolder(20),
  ])
  const names = ['@backlot/sdk', '@backlot/native', 'backlot']
  for (const { name, path } of await packHere(packed, names)) {
    const folder = join(project, 'node_modules', name)
    await mkdir(folder, { recursive: true })
    expect(Bun.spawnSync(['tar', '--extract', '--strip-components=1', '--file', path], { cwd: folder }).exitCode).toBe(
      0,
    )
  }
  await mkdir(join(project, 'node_modules/@types'))
  await symlink(join(modules, '@types/node'), join(project, 'node_modules/@types/node'))
  await symlink(join(modules, 'undici-types'), join(project, 'node_modules/undici-types'))
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const whole = [
    "import { BacklotError, type CallOptions } from '@backlot/sdk'",
    "import { checkDisk, type DiskCheck } from '@backlot/native'",
    "import { executablePath } from 'backlot/executable'",
    'export const path: string = executablePath()',
    'export const checked: (file: string) => Promise<DiskCheck> = checkDisk',
    'export const options: CallOptions = { timeoutMs: 1 }',
    'export const code = (error: unknown) => (BacklotError.is(error) ? error.code : null)',
  ]
  await writeFile(join(project, 'whole.ts'), whole.join('\n'))
  await cp(programs, project, { recursive: true })
  const compiler = (name: string, ...flags: string[]): Compiler => [
    name,
    [join(node, 'node'), join(modules, name, 'bin/tsc'), ...flags],
  ]
  // Several threads check much of it several times.
  current = compiler('typescript-7', '--singleThreaded')
  former = compiler('typescript-5')
})

afterAll(() => rm(project, { recursive: true, force: true }))

/** What users set; nothing of what is installed is left unchecked. */
const strict = {
  strict: true,
  skipLibCheck: false,
  // The compiler's own.
  skipDefaultLibCheck: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
  noEmit: true,
}

/** The settings that programs have: with the browser's types or without, as Node or a bundler finds modules. */
const settings = {
  'Node, with the types of a browser': { lib: ['es2023', 'dom', 'dom.iterable'], module: 'nodenext', types: ['node'] },
  Node: { lib: ['es2023'], module: 'nodenext', types: ['node'] },
  'a bundler': { lib: ['es2023', 'dom', 'dom.iterable'], module: 'preserve', types: ['node'] },
} as const

/** What a compiler says of files under settings: an empty text where it accepts them. */
const compiled = async (
  [version, command]: Compiler,
  name: keyof typeof settings,
  files: readonly string[],
): Promise<string> => {
  const config = join(project, `${version}-${name}.json`)
  await writeFile(config, JSON.stringify({ compilerOptions: { ...strict, ...settings[name] }, files }))
  const child = Bun.spawn([...command, '--pretty', 'false', '-p', config], {
    cwd: project,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect((await child.exited) === 0).toBe(`${out}${errors}` === '')
  return `${out}${errors}`
}

test('the types of every package compile in a strict program, nothing of them left unchecked', async () => {
  expect(await compiled(current, 'a bundler', ['whole.ts'])).toBe('')
  await writeFile(
    join(project, 'wrong.ts'),
    "import { executablePath } from 'backlot/executable'\nexport const path: number = executablePath()",
  )
  // Of the one that is wrong it says so, and of no other file.
  expect(await compiled(current, 'Node', ['whole.ts', 'wrong.ts'])).toMatch(/^wrong\.ts.* error TS2322.*\n$/)
})

test('the programs that users write first compile, and what must not compile does not', async () => {
  const said = [current, former].map((compiler) =>
    compiled(compiler, 'Node, with the types of a browser', ['whole.ts', 'examples.ts', 'checks.ts']),
  )
  expect(await Promise.all(said)).toEqual(['', ''])
})
