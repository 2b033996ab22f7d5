/** From nothing to the first answer of a guest: through the service, and by hand with the same image. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { withAllIds } from '@backlot/local'
import { runBacklot } from '../../support/backlot.ts'
import { type Guest, type GuestOptions, runProgram, startGuest } from '../../support/guest.ts'
import { linuxMinimal, testImages } from '../../support/image.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { milliseconds, type Row, type Spread, sideBySide } from '../driver/measure.ts'

/** Waits for the first answer of a guest. One that is not up yet leaves a connection hanging: each try is short, and the next follows at once. */
export const answered = async (address: string): Promise<void> => {
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

/** What is booted. */
interface Subject {
  readonly name: string
  readonly settings: { readonly cpu: number; readonly memory: string; readonly diskSize: string }
  /** The same for the one that is started by hand. */
  readonly byHand: Pick<GuestOptions, 'memoryMb' | 'cpus' | 'diskBytes'>
  /** Has it built, and gives its image and the cache directory that has it. */
  prepare(host: VmHost): Promise<{ image: GuestOptions['image']; cacheDirectory: string }>
}

const minimal: Subject = {
  name: 'linux-minimal',
  settings: { cpu: 1, memory: '256MB', diskSize: '1GB' },
  byHand: {},
  prepare: async () => ({ image: await linuxMinimal(), cacheDirectory: testImages }),
}

const desktop: Subject = {
  name: 'linux-desktop',
  settings: { cpu: 2, memory: '2GB', diskSize: '6GB' },
  byHand: { memoryMb: 2_048, cpus: 2, diskBytes: 6 * 2 ** 30 },
  prepare: async ({ home }) => {
    const built = await runBacklot(['image', 'build', 'linux-desktop'], { BACKLOT_HOME: home })
    if (built.status !== 0) throw new Error(built.stderr)
    // Files of the root that it was made of belong to other users.
    await runProgram('env', ...withAllIds(), 'rm', '-rf', join(home, 'state/local-roots'))
    const { folder } = JSON.parse(built.stdout) as { folder: string }
    const image = await Bun.file(join(folder, 'image.json')).json()
    return { image: { folder, image }, cacheDirectory: join(folder, '..') }
  },
}

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
const throughService = async (host: VmHost, { name: image, settings }: Subject, name: string): Promise<Boot> => {
  const client = httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch })
  const before = processorMs(host.pid)
  let qemu = 0
  const tookMs = await milliseconds(async () => {
    await client.createVm({ name, image, os: 'linux', display: '1024x768', ...settings })
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
const byHand = async (options: Omit<GuestOptions, 'uuid' | 'ownSession'>): Promise<Boot> => {
  let guest: Guest | undefined
  try {
    const tookMs = await milliseconds(async () => {
      // As the service does: on a busy machine, who shares the session of others has less of the processors.
      guest = await startGuest({ ...options, uuid: crypto.randomUUID(), ownSession: true })
      await answered(guest.url)
    })
    return { tookMs, qemuMs: processorMs((guest as unknown as Guest).pid), serviceMs: 0 }
  } finally {
    await guest?.[Symbol.asyncDispose]()
  }
}

/** The disk with the executable that the service has made for guests of a cache directory; none where no guest needs it. */
const executableIn = (cacheDirectory: string): { seed?: string } => {
  const folder = join(cacheDirectory, '.executables')
  const [name] = readdirSync(folder).filter((each) => each.endsWith('.img'))
  return name === undefined ? {} : { seed: join(folder, name) }
}

/** Both in turn, so that whatever else the machine does falls on both alike. */
const rowsOf = async (subject: Subject, rounds: number): Promise<Row[]> => {
  await using host = await startVmHost()
  const { image, cacheDirectory } = await subject.prepare(host)
  await httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch }).setConfig({ cacheDirectory })
  const folder = await mkdtemp(join(tmpdir(), 'backlot-boot-'))
  const none: Boot = { tookMs: 0, qemuMs: 0, serviceMs: 0 }
  const last: Record<'ours' | 'theirs', Boot> = { ours: none, theirs: none }
  let number = 0
  try {
    const spreads = await sideBySide(rounds, {
      ours: async () => {
        last.ours = await throughService(host, subject, `vm-${number++}`)
        return last.ours.tookMs
      },
      theirs: async () => {
        const disk = join(folder, `disk-${number++}.qcow2`)
        const executable = image.image.runsExecutable === true ? executableIn(cacheDirectory) : {}
        last.theirs = await byHand({ image, disk, ...subject.byHand, ...executable })
        return last.theirs.tookMs
      },
      oursQemu: async () => last.ours.qemuMs,
      theirsQemu: async () => last.theirs.qemuMs,
      service: async () => last.ours.serviceMs,
    })
    return rowsFrom(subject, spreads)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const rowsFrom = (
  { name }: Subject,
  spreads: Record<'ours' | 'theirs' | 'oursQemu' | 'theirsQemu' | 'service', Spread>,
): Row[] => {
  const floor = 'the same guest by hand'
  const aim = { of: 'ratio', atMost: 1.15 } as const
  return [
    {
      what: `create to first answer of ${name}`,
      unit: 'ms',
      measured: spreads.ours,
      floor: { name: floor, spread: spreads.theirs },
      aim,
    },
    {
      what: 'processor time of its QEMU until then',
      unit: 'ms',
      measured: spreads.oursQemu,
      floor: { name: floor, spread: spreads.theirsQemu },
      aim,
    },
    { what: 'and of the service', unit: 'ms', measured: spreads.service },
  ]
}

/** The small guest. */
export const bootRows = (): Promise<Row[]> => rowsOf(minimal, 5)

/** The desktop, which is built of packages first: some minutes. */
export const desktopRows = (): Promise<Row[]> => rowsOf(desktop, process.argv.includes('--quick') ? 1 : 3)
