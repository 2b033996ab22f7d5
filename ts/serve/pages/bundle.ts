/** Makes the files of a web page out of its sources. */
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The style of the page that describes the operations. */
export const docsStyle = join(import.meta.dir, '../page/docs.css')

/**
 * The text of each file by its name: the script `main` with all that it imports, and the files at `texts` as they are. A
 * run from the sources does so when a file is first asked for; the executable carries them finished.
 */
export const bundlePage = async (main: string, texts: readonly string[]): Promise<Readonly<Record<string, string>>> => {
  const made = await Bun.build({
    entrypoints: [main],
    root: dirname(main),
    target: 'browser',
    format: 'esm',
    minify: true,
    // What shows a screen is loaded when there is one to show.
    splitting: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
  })
  const scripts = await Promise.all(made.outputs.map(async (file) => [basename(file.path), await file.text()] as const))
  return Object.fromEntries([...texts.map((path) => [basename(path), readFileSync(path, 'utf8')] as const), ...scripts])
}
