/** The files of the console, made from `page/`. */
import { join } from 'node:path'
import { bundlePage, docsStyle } from '@backlot/serve/bundle'

/** The text of each file by its name. The build of the executable puts the outcome in the place of this module. */
export const bundle = (): Promise<Readonly<Record<string, string>>> =>
  bundlePage(join(import.meta.dir, 'page'), [docsStyle])
