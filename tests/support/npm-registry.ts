/** A registry of npm packages on this machine: verdaccio, which asks the public one for what is not ours. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFolder, npmPackages } from './npm-packages.ts'
import { until } from './until.ts'

/** Where the packages of others come from, as npm and bun are told. */
const elsewhere = process.env.BUN_CONFIG_REGISTRY || process.env.npm_config_registry || 'https://registry.npmjs.org/'

/** A running registry; disposing of it ends it and removes what was published. */
export interface NpmRegistry extends AsyncDisposable {
  readonly url: string
  /** What npm and bun need in their environment to use it and nothing else, with folders of their own to cache in. */
  readonly env: Readonly<Record<string, string>>
}

/** Starts an empty registry to which everybody may publish. */
export const startNpmRegistry = async (): Promise<NpmRegistry> => {
  const folder = await mkdtemp(join(tmpdir(), 'registry-'))
  const settings = join(folder, 'settings.yaml')
  await writeFile(
    settings,
    `storage: ${folder}/storage
auth: {}
uplinks: {public: {url: '${elsewhere}'}}
packages:
  backlot: {access: $all, publish: $all}
  '@backlot/*': {access: $all, publish: $all}
  '**': {access: $all, proxy: public}
log: {type: stdout, format: json, level: http}
max_body_size: 500mb
web: {enable: false}
`,
  )
  const modules = await npmPackages({ verdaccio: '6.10.4' })
  const program = join(import.meta.dir, 'fixtures/verdaccio.mjs')
  const child = Bun.spawn(
    [join(await nodeFolder(26), 'node'), program, join(modules, 'verdaccio/build/index.js'), settings],
    {
      cwd: folder,
      env: { ...process.env, HOME: folder },
      stdin: 'ignore',
      stdout: Bun.file(join(folder, 'log')),
      stderr: Bun.file(join(folder, 'errors')),
    },
  )
  const end = async () => {
    child.kill()
    await child.exited
    delete process.env.NPM_CONFIG_TOKEN
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const url = await until('the registry', async () => {
      if (child.exitCode !== null)
        throw new Error(`the registry ended: ${await Bun.file(join(folder, 'errors')).text()}`)
      const [port] = /^\d+$/m.exec(await Bun.file(join(folder, 'log')).text()) ?? []
      return port && `http://127.0.0.1:${port}`
    })
    // Everybody may publish, but bun asks for a name.
    process.env.NPM_CONFIG_TOKEN = 'anybody'
    return {
      url,
      env: {
        npm_config_registry: url,
        npm_config_cache: join(folder, 'npm-cache'),
        npm_config_userconfig: join(folder, 'npmrc'),
        BUN_INSTALL_CACHE_DIR: join(folder, 'bun-cache'),
        BUN_CONFIG_REGISTRY: url,
      },
      [Symbol.asyncDispose]: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}
