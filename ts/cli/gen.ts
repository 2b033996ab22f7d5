/**
 * Writes what is derived from another file: `bun ts/cli/gen.ts [--check]`.
 * With `--check` it writes nothing, names what is out of date and exits 1.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { version } from '@backlot/contract/version'
import { declarationsOf } from '@backlot/pack/declarations'
import { referencePage } from '@backlot/pack/reference'
import { devicePrograms, dexModule } from './generated/android-dex.ts'
import { commandTypes } from './generated/command-types.ts'
import { recipeFiles } from './generated/recipe-files.ts'
import { referencePages } from './generated/reference.ts'

const root = join(import.meta.dir, '../..')
const read = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '')

/** A TypeScript text as Biome formats it. */
const formatted = (path: string, text: string): string => {
  const biome = [process.execPath, join(root, 'node_modules/.bin/biome'), 'format', `--stdin-file-path=${path}`]
  const { success, stdout, stderr } = Bun.spawnSync(biome, { cwd: root, stdin: Buffer.from(text) })
  if (!success) throw new Error(`${path} cannot be formatted: ${stderr}`)
  return stdout.toString()
}

const generated: Record<string, string> = {
  'Cargo.toml': read('Cargo.toml').replace(/^version = ".*"$/m, `version = "${version}"`),
}
for (const manifest of globSync('ts/*/package.json', { cwd: root })) {
  generated[manifest] = read(manifest).replace(/^ {2}"version": ".*"/m, `  "version": "${version}"`)
}
generated['ts/sdk/transports/commands.ts'] = formatted('ts/sdk/transports/commands.ts', commandTypes())
generated['ts/sdk/runtimes/container/recipe-files.ts'] = formatted(
  'ts/sdk/runtimes/container/recipe-files.ts',
  recipeFiles(root),
)
for (const program of Object.values(devicePrograms)) {
  generated[program.module] = dexModule(root, program, read(program.module), !process.argv.includes('--check'))
}
generated['docs/reference/sdk.md'] = referencePage(
  '`@backlot/sdk`',
  'Computers for agents. What a call must have is positional, what it may have stands in one object; times are ' +
    'milliseconds, coordinates are pixels of the screen from its top left corner. A failed call throws one of the ' +
    'errors below, whose `code` tells the cause.',
  await declarationsOf('ts/sdk/index.ts'),
)
for (const [name, text] of Object.entries(referencePages())) generated[join('docs/reference', name)] = text

const outdated = Object.entries(generated).filter(([path, text]) => read(path) !== text)
if (process.argv.includes('--check')) {
  for (const [path] of outdated) console.error(`${path} is out of date: run ./dev gen`)
  process.exit(outdated.length > 0 ? 1 : 0)
}
for (const [path, text] of outdated) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  console.log(`wrote ${path}`)
}
