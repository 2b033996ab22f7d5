/** Who imports whom in the TypeScript packages. */
import { dirname, join } from 'node:path'
import { files, read } from './sources.ts'

/** An import, types included: the file that has it and what it names. */
export interface Import {
  readonly file: string
  /** The folder under ts/. */
  readonly from: string
  readonly specifier: string
}

// As Biome formats them: a statement begins its line, and the end of one over several lines does so too.
const statement = /^(?:import|export|\})[^'\n]*\bfrom '([^']+)'|^import '([^']+)'|\b(?:import|require)\(\s*'([^']+)'/gm

/** Every import of the packages, tests beside the sources left out. */
export const imports: readonly Import[] = files
  .filter((file) => /^ts\/[^/]+\/.*\.tsx?$/.test(file) && !file.endsWith('.test.ts') && !file.endsWith('.d.ts'))
  .flatMap((file) =>
    [...read(file).matchAll(statement)].map((match) => ({
      file,
      from: file.split('/')[1] ?? '',
      specifier: match[1] ?? match[2] ?? match[3] ?? '',
    })),
  )

/** The package under ts/ that an import reaches, or nothing for what is not of this workspace. */
export function packageOf({ file, specifier }: Import): string | undefined {
  if (specifier.startsWith('@backlot/')) return specifier.split('/')[1]
  return specifier.startsWith('.') ? join(dirname(file), specifier).match(/^ts\/([^/]+)\//)?.[1] : undefined
}

/** The npm package that an import names, or nothing for relative ones and parts of the runtime. */
export function externalOf({ specifier }: Import): string | undefined {
  if (/^(\.|node:|bun(:|$)|@backlot\/)/.test(specifier)) return undefined
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]
}
