/** The sandboxes of this machine for the console of the VM host: what `backlot sandbox` does, asked over HTTP. */
import { Failure, type FailureCode, failures } from '@backlot/contract/failure'
import type { HostSandbox } from '@backlot/contract/vmhost/sandboxes'
import type { SandboxInfo } from '@backlot/sdk'
import type { HostSandboxes } from '@backlot/vmhost'
import { nameToSdk } from '../executable.ts'

const here = { local: true } as const

/** The SDK, loaded when somebody looks: most services are asked for VMs alone. */
const sdk = async () => {
  nameToSdk()
  return import('@backlot/sdk')
}

/** Does something with the SDK; what it refuses becomes the failure of the same code. */
const refusing = async <T>(work: (parts: Awaited<ReturnType<typeof sdk>>) => Promise<T>): Promise<T> => {
  const parts = await sdk()
  try {
    return await work(parts)
  } catch (error) {
    if (!parts.BacklotError.is(error)) throw error
    // Codes of the SDK alone say why something of this machine cannot be reached.
    const code = Object.hasOwn(failures, error.code) ? (error.code as FailureCode) : 'runtime_unavailable'
    throw new Failure(code, error.message, { ...error.data })
  }
}

/** What the page is told: no address and no key. */
const shown = (info: SandboxInfo): HostSandbox => ({
  name: info.name,
  status: info.status,
  runtime: info.source,
  isolation: info.isolation,
  osType: info.osType,
  createdAt: info.createdAt,
  expiresAt: info.expiresAt,
  ephemeral: info.ephemeral,
  warnings: [...info.warnings],
})

/** Those of the user who runs this program, wherever they were made. */
export const hostSandboxes: HostSandboxes = {
  list: () =>
    refusing(async ({ Sandbox }) => {
      const infos = await Sandbox.list(here)
      // VMs of a service are in its own list.
      return infos.filter(({ source }) => source !== 'vmhost').map(shown)
    }),
  suspend: (name) => refusing(({ Sandbox }) => Sandbox.suspend(name, here)),
  resume: (name) => refusing(async ({ Sandbox }) => (await Sandbox.resume(name, here)).disconnect()),
  delete: (name) => refusing(({ Sandbox }) => Sandbox.delete(name, here)),
  screen: (name) =>
    refusing(async () => {
      const { reach } = await import('../sandbox/reach.ts')
      await using sandbox = await reach(name, here)
      const { url, headers } = await sandbox.getMcpServer()
      const base = url.replace(/\/mcp$/, '')
      const answer = await fetch(`${base}/status`, { headers, signal: AbortSignal.timeout(statusWithinMs) })
      const { features } = (await answer.json()) as { features?: readonly string[] }
      if (features?.includes('view'))
        return { url: `${base.replace(/^http/, 'ws')}/view/screen?view_only=true`, headers }
      const text = `The server in the sandbox "${name}" gives no live screen; \`backlot sandbox screenshot ${name}\` takes a picture.`
      throw new Failure('no_screen', text, { name })
    }),
}

/** Milliseconds within which a server says what it can do. */
const statusWithinMs = 10_000
