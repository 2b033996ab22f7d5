import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { qemuFeatures } from '../hypervisors/qemu/features.ts'
import { addGuestRoutes } from './guest-routes.ts'

/** The routes of a host with one VM, and what tells that something in its guest has begun, and has ended. */
const guestRoutes = () => {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const output = async function* (part: unknown) {
    try {
      for (;;) yield part
    } finally {
      ended.resolve()
    }
  }
  const bytes = new Uint8Array(1)
  const begin = async (part: unknown) => {
    begun.resolve()
    return output(part)
  }
  const guest = {
    execute: async () => ({ exitCode: 0 }),
    stream: () => begin({ stream: 'stdout', bytes }),
    readFile: () => begin(bytes),
  }
  const place = { name: 'one', path: '/nowhere', settings: { guestOs: 'linux' } }
  const hypervisor = { name: 'qemu', features: qemuFeatures }
  const machines = { hypervisor, knows: () => true, status: () => 'running', get: () => ({ place, guest }) }
  const app = new Elysia({ aot: false }).onParse(() => ({}))
  addGuestRoutes(app, '', { store: { find: async () => place }, machines } as never)
  return { app, begun: begun.promise, ended: ended.promise }
}

const asked = [
  ['/vms/one/exec/stream', { method: 'POST', body: JSON.stringify({ command: 'true' }) }],
  ['/vms/one/files?path=/a', {}],
  ['/vms/one/files/tar?path=/a', {}],
] as const

for (const [path, options] of asked) {
  test(`what a caller of ${path} has begun is ended where they leave before they read anything`, async () => {
    const leaving = new AbortController()
    const { app, begun, ended } = guestRoutes()
    const answer = app.handle(new Request(`http://host${path}`, { ...options, signal: leaving.signal }))
    await begun
    leaving.abort()
    await ended
    expect((await answer).status).toBe(200)

    const other = guestRoutes()
    const { body } = await other.app.handle(new Request(`http://host${path}`, options))
    await body?.cancel()
    await other.ended
  })
}
