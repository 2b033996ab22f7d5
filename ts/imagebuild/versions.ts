/** Which packages an image was made of, so that its build can be repeated. */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BuiltRoot } from './recipe.ts'

/** The file of an image with them: one a line, as apt takes them. */
export const versionsFile = 'packages.txt'

/** `NAME=VERSION` for each package file, then for each package that is installed in the root, sorted. */
export const versionsOf = async (files: readonly string[], root: BuiltRoot | undefined): Promise<string> => {
  const fetched = files.map((file) => basename(file).split('_').slice(0, 2).join('=').replaceAll('%3a', ':'))
  const installed =
    root === undefined ? [] : installedIn(await readFile(join(root.folder, 'var/lib/dpkg/status'), 'utf8'))
  return `${[...fetched.sort(), ...installed.sort()].join('\n')}\n`
}

/** The packages in a status file of dpkg. */
const installedIn = (text: string): string[] =>
  text.split('\n\n').flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1]
    const [name, version] = [field('Package'), field('Version')]
    return name !== undefined && version !== undefined ? [`${name}=${version}`] : []
  })
