/** Sandboxes to look at and to work in, whoever made them. */
import { BacklotError, type LookupOptions, type Runtime, runtimes, Sandbox } from '@backlot/sdk'

/** Connects to one by name: those of `backlot sandbox` and of the SDK, and else those of `backlot local start`. */
export const reach = (name: string, where: LookupOptions): Promise<Sandbox> =>
  knownOr(
    { name, where },
    () => Sandbox.connect(name, where),
    async () => Sandbox.connect(name, await addressHere(name)),
  )

/** Does something to one by name through the SDK, or through its runtime where `backlot local start` made it. */
export const knownOr = async <Result>(
  { name, where }: { readonly name: string; readonly where: LookupOptions },
  ofSdk: () => Promise<Result>,
  startedHere: (runtime: Runtime) => Promise<Result>,
): Promise<Result> => {
  try {
    return await ofSdk()
  } catch (error) {
    if (!BacklotError.is(error) || error.code !== 'sandbox_not_found') throw error
    const { local, runtime } = where
    const isMeant = runtime === undefined ? local !== false : runtime === 'local'
    if (!isMeant || !(await isHere(name))) throw error
    return startedHere(runtimes.local())
  }
}

const folderOf = async (name: string) => {
  const { SandboxFolder, sandboxesFolder } = await import('@backlot/local')
  return new SandboxFolder(sandboxesFolder(), name)
}

const isHere = async (name: string): Promise<boolean> => (await folderOf(name)).readRecord()?.is_whole === true

/** Where a sandbox that no file of the SDK knows is reached. Throws `sandbox_not_running`. */
const addressHere = async (name: string) => {
  const { sandboxStateOf } = await import('@backlot/local')
  const info = sandboxStateOf(await folderOf(name))
  if (info.status === 'running' && 'api_key' in info && info.api_url !== null) {
    return { httpUrl: info.api_url, apiKey: info.api_key }
  }
  const { Failure } = await import('@backlot/contract/failure')
  const text = `The sandbox "${name}" is ${info.status}; continue it: backlot local resume ${name}`
  throw new Failure('sandbox_not_running', text, { name, status: info.status })
}
