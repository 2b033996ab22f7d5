/** Suspend and resume of the service, beside `savevm` and `loadvm` of a QEMU that was started by hand with the same image. */
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

const rounds = 5
/** The part of QEMU's own time that ours may take. */
const aim = { of: 'ratio', atMost: 0.2 } as const

export const savedRows = async (): Promise<Row[]> => {
  await using host = await startVmHost()
  await giveImage(host)
  const client = httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch })
  const name = 'saved'
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
  const url = async () => {
    for (;;) {
      const { ipAddress } = await client.getVm({ name })
      if (ipAddress !== null) return `http://${ipAddress}:8000`
      await Bun.sleep(20)
    }
  }
  await answered(await url())
  const folder = await mkdtemp(join(tmpdir(), 'backlot-saved-'))
  try {
    await using guest = await startGuest({
      image: await linuxMinimal(),
      disk: join(folder, 'disk.qcow2'),
      uuid: crypto.randomUUID(),
      ownSession: true,
    })
    await answered(guest.url)
    const spreads = await sideBySide(rounds, {
      suspend: () => milliseconds(() => client.suspendVm({ name })),
      resume: () =>
        milliseconds(async () => {
          await client.resumeVm({ name })
          await answered(await url())
        }),
      savevm: () => milliseconds(() => guest.monitor('savevm one')),
      loadvm: () =>
        milliseconds(async () => {
          await guest.monitor('loadvm one')
          await answered(guest.url)
        }),
    })
    await client.stopVm({ name, graceSeconds: 0 })
    return [
      {
        what: 'suspend',
        unit: 'ms',
        measured: spreads.suspend,
        floor: { name: 'savevm', spread: spreads.savevm },
        aim,
      },
      {
        ...{ what: 'resume, to the first answer', unit: 'ms', measured: spreads.resume },
        floor: { name: 'loadvm', spread: spreads.loadvm },
        aim,
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
