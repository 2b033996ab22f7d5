/** The programs of `docs/recipes.md`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Their texts by the word that stands beside their language. */
export const recipes: ReadonlyMap<string, string> = new Map(
  Array.from(
    readFileSync(join(import.meta.dir, '../../docs/recipes.md'), 'utf8').matchAll(/^```ts (\S+)\n(.*?)^```$/gms),
    ([, name = '', text = '']) => [name, text],
  ),
)
