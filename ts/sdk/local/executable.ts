/** Where the `backlot` executable is. */

import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Variables } from '@backlot/contract/places'
import { UnavailableError } from '../errors.ts'

/**
 * The path of the executable: what `BACKLOT_BIN` names, else that of the npm package `backlot` as this program or this package
 * finds it, else the one on PATH. Throws `executable_not_found` with the way to get it.
 */
export const findExecutable = async (env: Variables = process.env): Promise<string> => {
  const named = env.BACKLOT_BIN
  if (named !== undefined && named !== '') {
    if (isProgram(named)) return named
    throw notFound(`BACKLOT_BIN is "${named}", which is no program. Set it to the path of the executable, or unset it.`)
  }
  const installed = await inPackage()
  const found = installed?.path ?? onPath(env)
  if (found !== undefined) return found
  throw notFound(
    installed?.why ??
      'What acts on this machine is the executable "backlot", which is not installed. Run `npm install backlot`, or set BACKLOT_BIN to its path.',
  )
}

const notFound = (message: string): UnavailableError => new UnavailableError('executable_not_found', message)

/** What the package says of its executable: where it is, or why there is none. */
interface Installed {
  readonly path?: string
  readonly why?: string
}

const inPackage = async (): Promise<Installed | undefined> => {
  for (const from of [process.argv[1], import.meta.url]) {
    if (from === undefined || from === '') continue
    let module: string
    try {
      module = createRequire(from).resolve('backlot/executable')
    } catch {
      // It is not installed for that one.
      continue
    }
    try {
      const { executablePath } = (await import(pathToFileURL(module).href)) as { executablePath(): string }
      return { path: executablePath() }
    } catch (error) {
      return { why: (error as Error).message }
    }
  }
  return undefined
}

const onPath = ({ PATH = '' }: Variables): string | undefined => {
  const name = process.platform === 'win32' ? 'backlot.exe' : 'backlot'
  return PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isProgram)
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
