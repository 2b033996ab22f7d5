/** `bun ts/cli/build.ts`: makes `dist/backlot`, one file with runtime, modules and native core, and its second name. */
import { existsSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { bundle as docsFiles } from '@backlot/computer/docs/bundle'
import { bundle as viewFiles } from '@backlot/computer/view/bundle'
import { packageFolder } from '@backlot/pack/modules'
import { bundle as consoleFiles } from '@backlot/vmhost/console/bundle'

const dist = join(import.meta.dir, '../../dist')
const made = join(dist, `backlot.${process.pid}`)

/** The modules that make files of web pages, and what they make: one build does not wait for another within it. */
const pages = [
  { module: /\/ts\/vmhost\/console\/bundle\.ts$/, files: await consoleFiles() },
  { module: /\/ts\/computer\/docs\/bundle\.ts$/, files: await docsFiles() },
  { module: /\/ts\/computer\/view\/bundle\.ts$/, files: await viewFiles() },
]

/** Puts the finished files of web pages in the place of what makes them. */
const finishedPages: Bun.BunPlugin = {
  name: 'pages',
  setup(build) {
    for (const { module, files } of pages) {
      build.onLoad({ filter: module }, () => ({
        contents: `const files = ${JSON.stringify(files)}\nexport const bundle = async () => files`,
        loader: 'js',
      }))
    }
  },
}

/** Holds the native core without its symbols, and these, until both are in their places. */
const split = `${made}.core`

/**
 * Has the executable hold the native core without its symbols, which are four times as large; they stand beside it. Where
 * there is no objcopy they stay in it.
 */
const symbolsBeside: Bun.BunPlugin = {
  name: 'symbols',
  setup(build) {
    const objcopy = Bun.which('objcopy')
    if (objcopy === null) return
    const run = (...words: string[]) => Bun.spawnSync([objcopy, ...words], { stderr: 'ignore' }).success
    build.onResolve({ filter: /\.linux-[^/]*\.node$/ }, ({ path, importer }) => {
      const core = join(dirname(importer), path)
      const [slim, symbols] = [join(split, basename(path)), join(split, 'backlot.symbols')]
      mkdirSync(split, { recursive: true })
      const isSplit =
        run('--only-keep-debug', core, symbols) && run('--strip-unneeded', `--add-gnu-debuglink=${symbols}`, core, slim)
      return isSplit ? { path: slim } : undefined
    })
  },
}

mkdirSync(dist, { recursive: true })
const { success, logs, metafile } = await Bun.build({
  entrypoints: [join(import.meta.dir, 'main.ts')],
  root: join(import.meta.dir, '../..'),
  target: 'bun',
  format: 'esm',
  minify: true,
  // Parsed beforehand, and only what a command needs is loaded: together they halve the time of a shell call.
  bytecode: true,
  splitting: true,
  metafile: true,
  plugins: [finishedPages, symbolsBeside],
  compile: { outfile: made, autoloadDotenv: false, autoloadBunfig: false },
})
for (const log of logs) console.error(log)
if (!success) process.exit(1)

/** The modules of the pages, which stand in the executable as finished files. */
const ofPages = await Bun.build({
  entrypoints: ['computer/docs', 'computer/view', 'vmhost/console'].map((folder) =>
    join(import.meta.dir, '..', folder, 'page/main.tsx'),
  ),
  target: 'browser',
  splitting: true,
  metafile: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  jsx: { runtime: 'automatic', importSource: 'preact', development: false },
})
const modules = [metafile, ofPages.metafile].flatMap((each) => Object.keys(each?.inputs ?? {}))
const packages = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined))
// What it holds of others, for the notices that are published with it.
writeFileSync(`${made}.packages.json`, JSON.stringify([...packages].toSorted()))
renameSync(`${made}.packages.json`, join(dist, 'backlot.packages.json'))

if (existsSync(join(split, 'backlot.symbols'))) {
  renameSync(join(split, 'backlot.symbols'), join(dist, 'backlot.symbols'))
}
rmSync(split, { recursive: true, force: true })

// A running executable cannot be written to, but it can be replaced.
renameSync(made, join(dist, 'backlot'))
rmSync(join(dist, 'backlot-driver'), { force: true })
linkSync(join(dist, 'backlot'), join(dist, 'backlot-driver'))
console.log(join('dist', 'backlot'), join('dist', 'backlot-driver'))
