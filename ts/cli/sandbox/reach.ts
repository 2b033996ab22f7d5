/** Sandboxes to look at and to work in, whoever made them. */
import { BacklotError, type LookupOptions, Sandbox } from '@backlot/sdk'

/** Connects to one by name: those of `backlot sandbox` and of the SDK, and else those of `backlot local start`. */
export const reach = async (name: string, where: LookupOptions): Promise<Sandbox> => {
  try {
    return await Sandbox.connect(name, where)
  } catch (error) {
    if (!BacklotError.is(error) || error.code !== 'sandbox_not_found') throw error
    const { local, runtime } = where
    const isMeant = runtime === undefined ? local !== false : runtime === 'local'
    const address = isMeant ? await addressHere(name) : undefined
    if (address === undefined) throw error
    return Sandbox.connect(name, address)
  }
}

/** Where a sandbox that no file of the SDK knows is reached; undefined where there is none. Throws `sandbox_not_running`. */
const addressHere = async (name: string) => {
  const { lookAt, SandboxFolder, sandboxesFolder } = await import('@backlot/local')
  const folder = new SandboxFolder(sandboxesFolder(), name)
  if (folder.readRecord()?.is_whole !== true) return undefined
  const info = lookAt(folder)
  if (info.status === 'running' && 'api_key' in info && info.api_url !== null) {
    return { httpUrl: info.api_url, apiKey: info.api_key }
  }
  const { Failure } = await import('@backlot/contract/failure')
  const text = `The sandbox "${name}" is ${info.status}; continue it: backlot local resume ${name}`
  throw new Failure('sandbox_not_running', text, { name, status: info.status })
}
