/** From nothing to the first answer of a guest: through the service, and by hand with the same image. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { type Guest, type GuestOptions, startGuest } from '../../support/guest.ts'
import { linuxMinimal, testImages } from '../../support/image.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
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

/** Milliseconds of processor time that a process has taken until now, to the hundredth of a second (proc(5), fields 14 and 15). */
const processorMs = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

/** From the first call to the first answer: what a clock says, and what its QEMU has worked for it. */
interface Boot {
  readonly tookMs: number
  readonly qemuMs: number
  readonly serviceMs: number
}

/** Create and run over HTTP until the guest answers. */
const throughService = async (host: VmHost, name: string): Promise<Boot> => {
  const client = httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch })
  const before = processorMs(host.pid)
  let qemu = 0
  const tookMs = await milliseconds(async () => {
    await client.createVm({ name, image: 'linux-minimal', ...settings })
    await client.runVm({ name })
    let vm = await client.getVm({ name })
    // Whoever asks more often keeps the service from its work.
    for (; vm.ipAddress === null || vm.pid === null; vm = await client.getVm({ name })) await Bun.sleep(25)
    qemu = vm.pid
    await answered(`http://${vm.ipAddress}:8000`)
  })
  const boot = { tookMs, qemuMs: processorMs(qemu), serviceMs: processorMs(host.pid) - before }
  await client.stopVm({ name })
  await client.deleteVm({ name })
  return boot
}

/** `qemu-img create` and QEMU with plain arguments until the guest answers. */
const byHand = async (image: GuestOptions['image'], disk: string): Promise<Boot> => {
  let guest: Guest | undefined
  try {
    const tookMs = await milliseconds(async () => {
      // As the service does: on a busy machine, who shares the session of others has less of the processors.
      guest = await startGuest({ image, disk, uuid: crypto.randomUUID(), ownSession: true })
      await answered(guest.url)
    })
    return { tookMs, qemuMs: processorMs((guest as unknown as Guest).pid), serviceMs: 0 }
  } finally {
    await guest?.[Symbol.asyncDispose]()
  }
}

/** Both in turn, so that whatever else the machine does falls on both alike. */
export const bootRows = async (): Promise<Row[]> => {
  const image = await linuxMinimal()
  await using host = await startVmHost()
  const client = httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch })
  await client.setConfig({ cacheDirectory: testImages })
  const folder = await mkdtemp(join(tmpdir(), 'backlot-boot-'))
  const last: Record<'ours' | 'theirs', Boot> = {
    ours: { tookMs: 0, qemuMs: 0, serviceMs: 0 },
    theirs: { tookMs: 0, qemuMs: 0, serviceMs: 0 },
  }
  let number = 0
  try {
    const spreads = await sideBySide(5, {
      ours: async () => {
        last.ours = await throughService(host, `vm-${number++}`)
        return last.ours.tookMs
      },
      theirs: async () => {
        last.theirs = await byHand(image, join(folder, `disk-${number++}.qcow2`))
        return last.theirs.tookMs
      },
      oursQemu: async () => last.ours.qemuMs,
      theirsQemu: async () => last.theirs.qemuMs,
      service: async () => last.ours.serviceMs,
    })
    const name = 'the same guest by hand'
    const aim = { of: 'ratio', atMost: 1.15 } as const
    return [
      {
        what: 'create to first answer of linux-minimal',
        unit: 'ms',
        measured: spreads.ours,
        floor: { name, spread: spreads.theirs },
        aim,
      },
      {
        what: 'processor time of its QEMU until then',
        unit: 'ms',
        measured: spreads.oursQemu,
        floor: { name, spread: spreads.theirsQemu },
        aim,
      },
      { what: 'and of the service', unit: 'ms', measured: spreads.service },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
