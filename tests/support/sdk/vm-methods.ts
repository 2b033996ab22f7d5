/** Methods of sandboxes that are VMs, each called once, with the guest, the host's files and sockets as witnesses. */
import { expect } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type Runtime, Sandbox, Snapshot } from '@backlot/sdk'

/** Where what is witnessed stands. */
export interface Witnessed {
  /** Folder of the host's VMs. */
  readonly vms: string
  /** Folder of the state files. */
  readonly states: string
  readonly timeoutMs: number
}

/** The first bytes that a server sends. */
const greeting = (url: string): Promise<string> =>
  new Promise((settle, fail) => {
    const { hostname, port } = new URL(url.replace(/^vnc:/, 'http:'))
    const socket = connect(Number(port), hostname)
    socket.once('error', fail).once('data', (bytes) => {
      settle(bytes.toString('latin1').trim())
      socket.destroy()
    })
  })

/** Calls the methods that keep, show, reach, restore and restart an ephemeral sandbox, and ends it. */
export const callMethods = async (sandbox: Sandbox, runtime: Runtime, witnessed: Witnessed): Promise<void> => {
  const { vms, states, timeoutMs } = witnessed
  const { name } = sandbox
  const record = () => JSON.parse(readFileSync(join(states, `${name}.json`), 'utf8'))
  const pid = () => readFileSync(join(vms, name, 'hypervisor.pid'), 'utf8')
  const said = async (command: string, by: Sandbox = sandbox) => (await by.shell.run(command)).stdout.trim()
  const boot = await said('cat /proc/sys/kernel/random/boot_id')

  await sandbox.setTtl(3_600_000)
  expect(Date.parse(record().expires_at) - Date.now()).toBeGreaterThan(0)
  await sandbox.setTtl(null)
  expect([record().expires_at, record().ephemeral]).toEqual([null, true])
  await sandbox.keep()
  expect([record().ephemeral, sandbox.ephemeral]).toEqual([false, false])
  expect(await sandbox.getInfo()).toMatchObject({ name, status: 'running', source: runtime.name, isolation: 'vm' })
  expect(await greeting(await sandbox.getDisplayUrl())).toMatch(/^RFB 003\.\d{3}$/)
  {
    await using other = await Sandbox.connect(name)
    expect(await said('hostname', other)).toBe(name)
    await other.files.write('/var/file', 'first\n')
    expect(await said('cat /var/file')).toBe('first')
    await using tunnel = await other.tunnel.forward(8_000)
    expect(await (await fetch(`${tunnel.url}/status`)).json()).toMatchObject({ status: 'ok' })
  }

  const saved = await sandbox.snapshot({ name: 'first' })
  expect(existsSync(join(vms, name, 'snapshots/first/memory.state'))).toBe(true)
  const events: unknown[] = []
  for await (const line of Sandbox.logs(name)) events.push(JSON.parse(line).event)
  expect(events).toContain('snapshot')
  await said('echo second >/var/file')
  const found = await Snapshot.get(saved.id, { runtime })
  expect([found.sandbox, found.memory, (await Snapshot.list({ runtime, sandbox: name })).length]).toEqual([
    name,
    true,
    1,
  ])
  await sandbox.restore(found, { timeoutMs })
  expect(await said('cat /var/file /proc/sys/kernel/random/boot_id')).toBe(`first\n${boot}`)
  await found.delete()
  expect(existsSync(join(vms, name, 'snapshots/first'))).toBe(false)

  const before = pid()
  await using again = await Sandbox.restart(name, { timeoutMs })
  expect([pid() === before, await said('cat /proc/sys/kernel/random/boot_id', again)]).toEqual([false, boot])
  await again.destroy()
  expect([existsSync(join(vms, name)), existsSync(join(states, `${name}.json`))]).toEqual([false, false])
}
