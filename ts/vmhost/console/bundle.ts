/** The files of the web page, made from `page/`. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * The text of each file by its name. A run from the sources makes them when they are first asked for; the executable
 * carries them finished: its build puts the outcome in the place of this module.
 */
export const bundle = async (): Promise<Readonly<Record<string, string>>> => {
  const folder = join(import.meta.dir, 'page')
  const made = await Bun.build({
    entrypoints: [join(folder, 'main.tsx')],
    root: folder,
    target: 'browser',
    format: 'esm',
    minify: true,
    // What shows a screen is loaded when there is one to show.
    splitting: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
  })
  const scripts = await Promise.all(made.outputs.map(async (file) => [basename(file.path), await file.text()] as const))
  const texts = ['index.html', 'refused.html', 'style.css', 'docs.css'].map(
    (name) => [name, readFileSync(join(folder, name), 'utf8')] as const,
  )
  return Object.fromEntries([...texts, ...scripts])
}
