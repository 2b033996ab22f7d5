/** From nothing to the first answer of a guest: through the service, and by hand with the same image. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { startGuest } from '../../support/guest.ts'
import { linuxMinimal, testImages } from '../../support/image.ts'
import { startVmHost } from '../../support/vmhost.ts'
import { milliseconds, type Row, sideBySide } from '../driver/measure.ts'

/** A guest that is not up yet leaves a connection hanging: each try is short, and the next follows at once. */
const answered = async (address: string): Promise<void> => {
  const deadline = performance.now() + 120_000
  for (;;) {
    const answer = await fetch(`${address}/status`, { signal: AbortSignal.timeout(250) })
      .then((response) => response.text())
      .catch(() => '')
    if (answer.includes('"ok"')) return
    if (performance.now() > deadline) throw new Error(`no guest answers at ${address}`)
    await Bun.sleep(5)
  }
}

const settings = { os: 'linux', cpu: 1, memory: '256MB', diskSize: '1GB', display: '1024x768' } as const

/** Create and run over HTTP until the guest answers, against `qemu-img create` and QEMU until the same. */
export const bootRows = async (): Promise<Row[]> => {
  const image = await linuxMinimal()
  await using host = await startVmHost()
  const client = httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch })
  await client.setConfig({ cacheDirectory: testImages })
  const folder = await mkdtemp(join(tmpdir(), 'backlot-boot-'))
  let number = 0
  const ours = async (): Promise<number> => {
    const name = `vm-${number++}`
    const took = await milliseconds(async () => {
      await client.createVm({ name, image: 'linux-minimal', ...settings })
      await client.runVm({ name })
      let address: string | null = null
      while (address === null) {
        address = (await client.getVm({ name })).ipAddress
        if (address === null) await Bun.sleep(5)
      }
      await answered(`http://${address}:8000`)
    })
    await client.stopVm({ name })
    await client.deleteVm({ name })
    return took
  }
  const byHand = async (): Promise<number> => {
    const disk = join(folder, `disk-${number++}.qcow2`)
    const uuid = crypto.randomUUID()
    let guest: Awaited<ReturnType<typeof startGuest>> | undefined
    try {
      return await milliseconds(async () => {
        guest = await startGuest({ image, disk, uuid })
        await answered(guest.url)
      })
    } finally {
      await guest?.[Symbol.asyncDispose]()
    }
  }
  try {
    const { measured, floor } = await sideBySide(5, { measured: ours, floor: byHand })
    return [
      {
        what: 'create to first answer of linux-minimal',
        unit: 'ms',
        measured,
        floor: { name: 'the same guest by hand', spread: floor },
        aim: { of: 'ratio', atMost: 1.15 },
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
