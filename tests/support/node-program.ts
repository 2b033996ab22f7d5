/** Programs that use the SDK, as Node runs them. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from './guest.ts'
import { scratchFolder } from './scratch.ts'

const root = join(import.meta.dir, '../..')

/** The path of a file of the SDK's sources, as a word of a program. */
export const sdkFile = (path: string): string => JSON.stringify(join(root, 'ts/sdk', path))

/** Packs a program's text with all that it imports but `external`, runs it with these words, and gives what it prints. */
export const printedByNode = async (
  text: string,
  words: readonly string[] = [],
  external: string[] = [],
): Promise<string> => {
  const folder = scratchFolder('node')
  writeFileSync(join(folder, 'program.ts'), text)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const outdir = join(folder, 'out')
  const built = await Bun.build({ entrypoints: [join(folder, 'program.ts')], target: 'node', outdir, external })
  if (!built.success) throw new Error(built.logs.join('\n'))
  const file = readdirSync(outdir, { recursive: true }).find((each) => String(each).endsWith('program.js'))
  return runProgram('node', join(outdir, String(file)), ...words)
}
