/** A part of others that stands in what is published. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** A part of others, with all that must be said of it. */
export interface Component {
  readonly name: string
  readonly version: string
  /** An SPDX expression. */
  readonly license: string
  /** Address of its source, empty where it names none. */
  readonly source: string
  /** Its licenses and notices, as they stand in it. */
  readonly texts: readonly string[]
}

/** The licenses and notices in the folder of a package, those of what it holds of others included. */
export const textsIn = async (folder: string): Promise<string[]> => {
  const names = (await readdir(folder, { recursive: true })).filter(
    (path) => /^((un)?licen[cs]e|(copying|copyright|notice)\b)/i.test(basename(path)) && !isOther.test(path),
  )
  return Promise.all(names.toSorted().map((name) => readFile(join(folder, name), 'utf8')))
}

/** Programs and pages that are only called so, and what is installed beside. */
const isOther = /(^|\/)node_modules\/|\.([cm]?[jt]sx?|rs|c|h|json|map|html|toml|ya?ml)$/i
