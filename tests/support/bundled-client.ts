/** The official MCP client as one file, parsed beforehand: its 250 modules take twice as long to load, in a hundred jobs. */
import { existsSync, readFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const kept = join(root, 'target/mcp-sdk')

/** The folder of the client in the versions of now, for this Bun. */
const folder = join(kept, `${Bun.hash(readFileSync(join(root, 'bun.lock'))).toString(16)}-${Bun.revision.slice(0, 12)}`)
const bundle = join(folder, 'mcp-sdk.js')

/** Makes it where there is none of the versions of now. */
export const bundleClient = async (): Promise<void> => {
  if (existsSync(bundle)) return
  await rm(kept, { recursive: true, force: true })
  const unfinished = `${folder}.unfinished`
  const entrypoints = [join(import.meta.dir, 'mcp-sdk.ts')]
  await Bun.build({ entrypoints, outdir: unfinished, target: 'bun', format: 'cjs', minify: true, bytecode: true })
  await rename(unfinished, folder)
}

/** Loads it, module by module where it was not bundled. */
export const loadClient = (): Promise<typeof import('./mcp-sdk.ts')> =>
  existsSync(bundle) ? import(bundle) : import('./mcp-sdk.ts')
