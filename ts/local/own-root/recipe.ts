/** What an own root is built from: the recipe of `images/linux-desktop`, as this executable holds it. */

import { readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import type { Variables } from '@backlot/contract/places'
import desktopPackages from '../../../images/linux-desktop/packages.txt' with { type: 'text' }
import { type RecipeFile, recipeFiles } from './recipe-files.ts'

/** The Debian release that roots are made of. */
export const suite = 'bookworm'

/** A root by what it is built from. */
export interface Recipe {
  readonly packages: readonly string[]
  /** Files by their absolute paths in the root. */
  readonly files: Readonly<Record<string, RecipeFile>>
  /** Twelve hexadecimal digits, others for each other recipe. */
  readonly version: string
}

/** Counts the way a root is built: higher for roots that are built otherwise of the same recipe. */
const method = 2

/** The recipe; the variable `BACKLOT_LOCAL_PACKAGES` names a file with other packages. Throws `invalid_environment`. */
export const recipeOf = (env: Variables = process.env): Recipe => {
  const packages = packagesIn(otherPackages(env[environment.localPackages]) ?? desktopPackages)
  const files = recipeFiles()
  const hashes = Object.entries(files).map(([path, { content, mode }]) => [path, mode, Bun.hash(content).toString(16)])
  const text = JSON.stringify({ method, suite, packages, hashes })
  return { packages, files, version: new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12) }
}

const otherPackages = (path: string | undefined): string | null => {
  if (path === undefined || path === '') return null
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Failure(
      'invalid_environment',
      `${environment.localPackages} names "${path}", which cannot be read (${(error as NodeJS.ErrnoException).code}); name a file with a Debian package a line, or unset it.`,
      { variable: environment.localPackages },
    )
  }
}

/** The names in a list with one on each line, where prose follows `#`. Throws `invalid_environment`. */
const packagesIn = (text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const name = line.replace(/#.*/, '').trim()
    if (name === '') return []
    if (/^[a-z0-9][a-z0-9+.-]*$/.test(name)) return [name]
    throw new Failure(
      'invalid_environment',
      `"${name}" is no name of a Debian package; the file that ${environment.localPackages} names has one a line.`,
      { variable: environment.localPackages },
    )
  })
