/** `bun ts/cli/build.ts`: makes `dist/backlot`, one file with runtime, modules and native core, and its second name. */
import { linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from '@backlot/vmhost/console/bundle'

const dist = join(import.meta.dir, '../../dist')
const made = join(dist, `backlot.${process.pid}`)

// Made beforehand: one build does not wait for another that runs within it.
const consoleFiles = JSON.stringify(await bundle())

/** Puts the finished files of the console in the place of what makes them. */
const finishedConsole: Bun.BunPlugin = {
  name: 'console',
  setup(build) {
    build.onLoad({ filter: /\/ts\/vmhost\/console\/bundle\.ts$/ }, () => ({
      contents: `const files = ${consoleFiles}\nexport const bundle = async () => files`,
      loader: 'js',
    }))
  },
}

mkdirSync(dist, { recursive: true })
const { success, logs } = await Bun.build({
  entrypoints: [join(import.meta.dir, 'main.ts')],
  root: join(import.meta.dir, '../..'),
  target: 'bun',
  format: 'esm',
  minify: true,
  // Parsed beforehand, and only what a command needs is loaded: together they halve the time of a shell call.
  bytecode: true,
  splitting: true,
  plugins: [finishedConsole],
  compile: { outfile: made, autoloadDotenv: false, autoloadBunfig: false },
})
for (const log of logs) console.error(log)
if (!success) process.exit(1)

// A running executable cannot be written to, but it can be replaced.
renameSync(made, join(dist, 'backlot'))
rmSync(join(dist, 'backlot-driver'), { force: true })
linkSync(join(dist, 'backlot'), join(dist, 'backlot-driver'))
console.log(join('dist', 'backlot'), join('dist', 'backlot-driver'))
