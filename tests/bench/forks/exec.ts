/** `true` in a guest by the service, beside the round trip of the guest agent and of what it runs by itself. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { startGuest } from '../../support/guest.ts'
import { linuxMinimal } from '../../support/image.ts'
import { startVmHost } from '../../support/vmhost.ts'
import { giveImage } from '../../support/vms.ts'
import { milliseconds, type Row, sideBySide } from '../driver/measure.ts'
import { answered } from '../vmhost/boot.ts'

const rounds = 20

export const execRows = async (): Promise<Row[]> => {
  await using host = await startVmHost()
  await giveImage(host)
  const client = httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch })
  const name = 'worked-in'
  await client.createVm({
    name,
    os: 'linux',
    image: 'linux-minimal',
    cpu: 1,
    memory: '256MB',
    diskSize: '1GB',
    display: '800x600',
  })
  await client.runVm({ name, noDisplay: true })
  const folder = await mkdtemp(join(tmpdir(), 'backlot-exec-'))
  try {
    await using guest = await startGuest({
      image: await linuxMinimal(),
      disk: join(folder, 'disk.qcow2'),
      uuid: crypto.randomUUID(),
      ownSession: true,
    })
    await answered(guest.url)
    const spreads = await sideBySide(rounds, {
      exec: () => milliseconds(() => client.execInVm({ name, command: 'true' })),
      ping: () => milliseconds(() => guest.agent('guest-ping')),
      byHand: () => milliseconds(() => guest.shell('true')),
    })
    await client.stopVm({ name, graceSeconds: 0 })
    const measured = spreads.exec
    return [
      {
        ...{ what: 'exec of `true`', unit: 'ms', measured },
        floor: { name: 'ping of the agent', spread: spreads.ping },
        aim: { of: 'difference', atMost: 20 },
      },
      { what: 'exec of `true`', unit: 'ms', measured, floor: { name: '`true` by the agent', spread: spreads.byHand } },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
