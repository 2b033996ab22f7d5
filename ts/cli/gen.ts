/**
 * Writes what is derived from another file: `bun ts/cli/gen.ts [--check]`.
 * With `--check` it writes nothing, names what is out of date and exits 1.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { version } from '@backlot/contract/version'
import { referencePages } from './reference.ts'

const root = join(import.meta.dir, '../..')
const read = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '')

const generated: Record<string, string> = {
  'Cargo.toml': read('Cargo.toml').replace(/^version = ".*"$/m, `version = "${version}"`),
}
for (const manifest of globSync('ts/*/package.json', { cwd: root })) {
  generated[manifest] = read(manifest).replace(/^ {2}"version": ".*"/m, `  "version": "${version}"`)
}
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
