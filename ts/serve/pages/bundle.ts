/** Makes the files of a web page out of its sources. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The style of the page that describes the operations. */
export const docsStyle = join(import.meta.dir, '../page/docs.css')

/** The style that every page begins with. */
const baseStyle = join(import.meta.dir, '../page/base.css')

const textAt = (path: string): string => readFileSync(path, 'utf8')

/**
 * The text of each file of the page in a folder, by its name: `index.html`, `style.css` after the style of all pages, the
 * script `main.js` with all that `main.tsx` imports, and the files at `others` as they are. A run from the sources does so
 * when a file is first asked for; the executable carries them finished.
 */
export const bundlePage = async (
  folder: string,
  others: readonly string[] = [],
): Promise<Readonly<Record<string, string>>> => {
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
  return {
    'index.html': textAt(join(folder, 'index.html')),
    'style.css': textAt(baseStyle) + textAt(join(folder, 'style.css')),
    ...Object.fromEntries([...others.map((path) => [basename(path), textAt(path)] as const), ...scripts]),
  }
}
