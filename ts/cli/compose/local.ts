/** Sandboxes with this executable in them: its computer server is what acts there. */
import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { environment } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import type { Executable } from '@backlot/local'
import { programCalled } from '../executable.ts'

/** Where the executable is seen in a sandbox. */
const seenAt = '/run/backlot-program'

/** This executable, as sandboxes have it. */
export const executableForSandboxes = async (): Promise<Executable> => {
  const { command } = programCalled('backlot')
  const [program, main] = command
  if (program === undefined) throw new Error('there is no program')
  if (main !== undefined) {
    const sources = resolve(import.meta.dir, '../../..')
    return {
      command: [`${seenAt}/bun`, main],
      parts: [
        { source: program, path: `${seenAt}/bun` },
        { source: sources, path: sources },
      ],
      variables: {},
    }
  }
  const native = await nativeCore()
  return {
    command: [`${seenAt}/backlot`],
    parts: [
      { source: program, path: `${seenAt}/backlot` },
      ...(native === null ? [] : [{ source: native, path: `${seenAt}/native.node` }]),
    ],
    variables: native === null ? {} : { [environment.nativePath]: `${seenAt}/native.node` },
  }
}

/**
 * A file with the native core that the executable carries: one for all sandboxes, each of which would unpack its own
 * otherwise, and have its own in memory. Null where this build carries none.
 */
const nativeCore = async (): Promise<string | null> => {
  const embedded = (Bun.embeddedFiles as readonly (Blob & { readonly name: string })[]).find(({ name }) =>
    name.endsWith('.node'),
  )
  if (embedded === undefined) return null
  const folder = join(placesOf(process.env).cache, 'native')
  const path = join(folder, basename(embedded.name))
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, new Uint8Array(await embedded.arrayBuffer()), { mode: 0o755, flush: true })
  try {
    // The first file stays: one that was replaced cannot be bound into a sandbox that starts meanwhile.
    linkSync(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
  }
  return path
}
