import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { pythonClients } from '../support/python-packages.ts'
import { pythonWith } from '../support/python-with.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'

const support = join(import.meta.dir, '../support')
const apart = join(support, 'apart')
const isPossible = Bun.spawnSync([apart, '--probe']).success
const minutes = 60_000

test.skipIf(!isPossible)(
  'schemathesis finds no defect and no answer that the document does not name',
  async () => {
    const python = await pythonWith(pythonClients.schemathesis)
    const keep = await mkdtemp(join(tmpdir(), 'backlot-schema-'))
    const seed = String(crypto.getRandomValues(new Uint32Array(1))[0])
    const run = [process.execPath, join(support, 'schema-run.ts'), join(dirname(python), 'schemathesis'), seed]
    const child = Bun.spawn([apart, keep, ...run], { stdout: 'pipe', stderr: 'inherit' })
    const found = JSON.parse(await child.stdout.text()) as {
      status: number
      cases: number
      said: string
      defects: string[]
    }
    await rm(keep, { recursive: true })
    if (found.status !== 0) throw new Error(`with the seed ${seed}: ${found.said}`)
    expect(found.defects).toEqual([])
    expect(found.cases).toBeGreaterThan(400)
  },
  8 * minutes,
)

describe('every operation', () => {
  let host: VmHost
  beforeAll(async () => {
    host = await startVmHost()
  })
  afterAll(() => host[Symbol.asyncDispose]())

  test(
    'gives the status of its success, and what the document says',
    async () => {
      const statuses: Record<string, number> = {}
      const client = httpClient(vmHost, {
        baseUrl: `${host.url}/svc`,
        fetch: async (url, init) => {
          const answer = await fetch(url, init)
          const path = new URL(url).pathname.slice('/svc'.length)
          const [name] = Object.entries(vmHost).find(
            ([, { method, path: declared }]) =>
              method === init.method &&
              new RegExp(`^${declared.replace(/\{\w+\}/g, '[^/]+')}$`).test(path) &&
              (declared.includes('{') || declared === path),
          ) ?? ['unknown']
          statuses[name] = answer.status
          return answer
        },
      })
      const settings = { os: 'linux', cpu: 1, memory: '64MB', diskSize: '1GB', display: '800x600' } as const
      const running = () =>
        until('the VM to run', async () => (await client.getVm({ name: 'one' })).status === 'running')
      await client.createVm({ name: 'one', ...settings })
      await client.updateVm({ name: 'one', cpu: 2 })
      await client.runVm({ name: 'one', noDisplay: true })
      await running()
      await client.stopVm({ name: 'one' })
      await client.cloneVm({ name: 'one', newName: 'two' })
      await client.deleteVm({ name: 'two' })
      expect((await client.listVms()).map(({ name }) => name)).toEqual(['one'])
      await client.setConfig({ cachingEnabled: false })
      await client.getConfig()
      await client.addLocation({ name: 'disks', path: join(host.home, 'disks') })
      await client.setDefaultLocation({ name: 'disks' })
      await client.setDefaultLocation({ name: 'home' })
      await client.removeLocation({ name: 'disks' })
      await client.listLocations()
      await client.getLogs()
      await client.getHostStatus()
      await client.makeConsoleLink()
      const [first] = await client.listOperations()
      await client.getOperation({ id: first?.id ?? '' })
      // A download that never ends is what can be cancelled.
      await using slow = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        idleTimeout: 0,
        fetch: () => new Response(new ReadableStream({ start: (part) => part.enqueue(new Uint8Array(1024)) })),
      })
      const { operationId } = await client.createVm({ name: 'far', image: `${slow.url}disk.qcow2`, ...settings })
      await client.cancelOperation({ id: operationId })
      await until(
        'the operation to end',
        async () => (await client.getOperation({ id: operationId })).state === 'cancelled',
      )

      // Only a guest with macOS goes through the one, and only one with an agent does the other.
      const { setupVm: _, execInVm: __, ...expected } = vmHost
      expect(statuses).toEqual(
        Object.fromEntries(Object.entries(expected).map(([name, { success }]) => [name, success.status])),
      )
    },
    2 * minutes,
  )
})
