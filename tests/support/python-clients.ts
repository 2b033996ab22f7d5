/** Unmodified clients of the VM host and the computer server, and what scripts see that use them. */
import { join } from 'node:path'
import { pythonClients } from './python-packages.ts'
import { pythonWith } from './python-with.ts'
import type { VmHost } from './vmhost.ts'
import { create, image } from './vms.ts'

/** What a script of `tests/support/fixtures` saw of a host through such a package; `env` is added to its environment. */
export const seenBy = (
  host: VmHost,
  client: keyof typeof pythonClients,
  script: string,
  env?: Readonly<Record<string, string>>,
): Promise<unknown> => seenAt(host.port, client, script, env)

/** What such a script saw of the server on that port. */
export const seenAt = async (
  port: number,
  client: keyof typeof pythonClients,
  script: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<unknown> => {
  const python = await pythonWith(...[pythonClients[client]].flat())
  return lastOf([python, join(import.meta.dir, 'fixtures', script), String(port), ...args], env)
}

/** What a program says in JSON in the last line of its output. */
export const lastOf = async (
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<unknown> => {
  const child = Bun.spawn([...command], {
    env: { ...process.env, CUA_TELEMETRY_ENABLED: 'false', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(stderr)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

/** Does something with a host that has the VM `py`, after which it has none. */
export const withVm = async (host: VmHost, act: () => Promise<void>): Promise<void> => {
  await create(host, 'py', { image })
  try {
    await act()
  } finally {
    for (const { name, status } of (await (await fetch(`${host.url}/svc/vms`)).json()) as Record<string, string>[]) {
      if (status !== 'stopped')
        await fetch(`${host.url}/svc/vms/${name}/stop`, { method: 'POST', body: '{"graceSeconds":0}' })
      await fetch(`${host.url}/svc/vms/${name}`, { method: 'DELETE' })
    }
  }
}
