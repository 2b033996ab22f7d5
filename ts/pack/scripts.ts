/** The JavaScript of packages: plain modules for Node and Bun, with what is not published inside. */
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import typescript from '@typescript/typescript6'
import { type Plugin, rollup } from 'rollup'
import { fetchOnly } from './fetch-only.ts'
import { packageFolder, packagesIn } from './notices/modules.ts'
import { noticesFile, noticesFor } from './notices/notices.ts'
import { root } from './workspace.ts'

/** What to build. */
export interface Scripts {
  /** Modules of the workspace, by their paths from the root; each becomes a file with its name. */
  readonly entries: readonly string[]
  /** Where the files are written. */
  readonly folder: string
  /** Packages that are installed beside. */
  readonly external?: readonly string[]
  /** What `require` loads from another package when the package is installed, by what it is given here. */
  readonly elsewhere?: Readonly<Record<string, string>>
  /** For runtimes that have `fetch` and neither files nor processes; nothing is beside it then. */
  readonly isFetchOnly?: boolean
}

/**
 * Writes the JavaScript of a package into its folder, and beside it the notices of what is inside it and not ours. Names of
 * classes stay as they are: errors are told by them.
 */
export const buildScripts = async (scripts: Scripts): Promise<void> => {
  const { entries, folder, external = [], elsewhere = {}, isFetchOnly = false } = scripts
  const beside = ['backlot', '@backlot/native', ...external]
  const bundle = await rollup({
    input: entries.map((entry) => join(root, entry)),
    external: (name) =>
      !isFetchOnly &&
      (/^(node|bun):/.test(name) || beside.some((each) => name === each || name.startsWith(`${each}/`))),
    plugins: [...(isFetchOnly ? [fetchOnly(beside)] : []), workspaceModules(elsewhere)],
    // Schemas and checks are values: a module of them that nothing is taken from does nothing.
    treeshake: { moduleSideEffects: (id) => !id.includes('/node_modules/') },
    onwarn: ({ code, message, ids = [] }) => {
      // In what TypeScript writes for `await using`: it looks for what is there already.
      if (code === 'THIS_IS_UNDEFINED') return
      // Where it is not ours it works all the same.
      if (code === 'CIRCULAR_DEPENDENCY' && ids.every((id) => id.includes('/node_modules/'))) return
      throw new Error(`the scripts of ${entries.join(', ')}: ${message}`)
    },
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    hoistTransitiveImports: false,
    minifyInternalExports: false,
  })
  await bundle.close()
  const inside = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])).map(packageFolder)
  const others = await packagesIn(inside.filter((each) => each !== undefined))
  if (others.length > 0) await writeFile(join(folder, noticesFile), noticesFor(others))
}

/** Finds and reads the modules of the workspace. */
const workspaceModules = (elsewhere: Readonly<Record<string, string>>): Plugin => ({
  name: 'workspace',
  resolveId: (name, importer) => (importer === undefined ? null : Bun.resolveSync(name, dirname(importer))),
  load: async (id) => {
    const text = await Bun.file(id).text()
    if (id.endsWith('.json')) return jsonModule(JSON.parse(text) as Record<string, unknown>)
    if (!id.endsWith('.ts')) return text
    return withRequire(typescript.transpileModule(text, { compilerOptions }).outputText, elsewhere)
  },
})

/** Gives a module the `require` that Bun has everywhere, where it loads what stands in another package. */
const withRequire = (text: string, elsewhere: Readonly<Record<string, string>>): string => {
  const found = Object.entries(elsewhere).filter(([path]) => text.includes(`'${path}'`))
  if (found.length === 0) return text
  const replaced = found.reduce((made, [path, name]) => made.replaceAll(`'${path}'`, `'${name}'`), text)
  return `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${replaced}`
}

/** What Node 20 runs; what users read of it stands in the types. */
const compilerOptions: typescript.CompilerOptions = {
  target: typescript.ScriptTarget.ES2022,
  module: typescript.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  removeComments: true,
}

/** A value for each field, of which only those that are imported stay. */
const jsonModule = (fields: Record<string, unknown>): string =>
  Object.entries(fields)
    .filter(([name]) => /^[a-z]\w*$/i.test(name) && name !== 'private')
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
    .join('\n')
