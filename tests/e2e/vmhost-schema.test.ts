import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { fakeRegistry, publishDisk } from '../support/fake-registry.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'

const minutes = 60_000

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
      await client.takeSnapshot({ name: 'one', snapshot: 'first' })
      await client.listSnapshots({ name: 'one' })
      await client.forkVm({ name: 'one', names: ['forked'] })
      await client.poolVm({ name: 'one' })
      await client.listTemplates()
      await client.stopVm({ name: 'forked' })
      await client.deleteVm({ name: 'forked' })
      await client.suspendVm({ name: 'one' })
      await client.resumeVm({ name: 'one' })
      await client.stopVm({ name: 'one' })
      // It was taken of the VM as it ran, and so is its memory.
      await client.restoreSnapshot({ name: 'one', snapshot: 'first' })
      await client.resumeVm({ name: 'one' })
      await client.stopVm({ name: 'one' })
      await client.deleteSnapshot({ name: 'one', snapshot: 'first' })
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
      using registry = fakeRegistry()
      publishDisk(registry, 'small', Buffer.alloc(2 ** 20, 1))
      const from = { registry: registry.address, organization: 'tests' }
      await client.pullImage({ image: 'small', name: 'pulled', ...from })
      const pull = await client.startPull({ image: 'small', name: 'pulled-too', ...from })
      const push = await client.pushVm({ name: 'one', imageName: 'one', tags: ['latest'], ...from })
      for (const { operationId: id } of [pull, push]) {
        await until('the operation to end', async () => (await client.getOperation({ id })).state === 'done')
      }
      const brought = await client.importImage({ source: join(host.home, 'data/vms/one/disk.qcow2'), name: 'brought' })
      await until(
        'the import to end',
        async () => (await client.getOperation({ id: brought.operationId })).state === 'done',
      )
      expect((await client.listImages()).map(({ repository }) => repository)).toEqual(['brought'])
      await client.pruneImages()
      const entry = '<key>FirmwareURL</key><string>x</string><key>ProductVersion</key><string>1.0</string>'
      const list = `<key>VirtualMac2,1</key><dict><key>a</key><dict>${entry}</dict></dict>`
      await using apple = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(list) })
      await client.setConfig({ ipswCatalog: apple.url.href })
      expect(await client.getIpsw()).toEqual({ url: 'x', version: '1.0' })
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

      // Only a guest with macOS goes through the one, and only one with an agent does the others.
      const { setupVm: _, execInVm: __, listInterfaces: ___, deleteTemplate: ____, ...expected } = vmHost
      expect(statuses).toEqual(
        Object.fromEntries(Object.entries(expected).map(([name, { success }]) => [name, success.status])),
      )
    },
    2 * minutes,
  )
})
