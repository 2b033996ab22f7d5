/** The project's own files, as the tests of shape read them. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of the checkout. */
export const root = join(import.meta.dir, '../..')

/** Paths from the root of every file that is tracked, or would be by adding everything. */
export const files: readonly string[] = Bun.spawnSync(
  ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z'],
  { cwd: root },
)
  .stdout.toString()
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)))

/** The text of a file, by its path from the root. */
export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Files that a program writes; each belongs to a step of `./dev gen`. */
export const isGenerated = (path: string): boolean =>
  path.endsWith('binding.d.ts') ||
  path === 'ts/sdk/transports/commands.ts' ||
  path.startsWith('docs/reference/') ||
  path.endsWith('.lock')

/** A line of a file, for messages: `path:line: text`. */
export const place = (path: string, index: number, text: string): string => `${path}:${index + 1}: ${text.trim()}`

/** Every place in `paths` whose line matches. */
export const placesOf = (paths: readonly string[], pattern: RegExp): string[] =>
  paths.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [place(path, index, line)] : [])),
  )
