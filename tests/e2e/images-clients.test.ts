/** Unmodified clients pull and list. */
import { expect, test } from 'bun:test'
import { fakeRegistry, publishDisk } from '../support/fake-registry.ts'
import { seenAt } from '../support/python-clients.ts'
import { startVmHost } from '../support/vmhost.ts'

test('pylume pulls an image and lists it', async () => {
  using registry = fakeRegistry()
  publishDisk(registry, 'minimal', Buffer.alloc(2 ** 20, 7))
  registry.alsoTag('minimal', 'one')
  await using host = await startVmHost()
  expect(await seenAt(host.port, 'pylume', 'pylume_pull.py', {}, [registry.address])).toEqual({
    pulled: ['pulled', 'linux', 'stopped'],
    images: ['sha256:'],
  })
}, 300_000)
