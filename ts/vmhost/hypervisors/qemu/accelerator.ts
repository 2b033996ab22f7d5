/**
 * What guests run on here. A device file says little: KVM may be refused, or belong to a kernel under which guests
 * hang. So a tiny guest is started under each accelerator, and the answer holds until this machine boots again.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { bootId } from '@backlot/native/machine'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Accelerator } from './arguments.ts'
import { guestExitStatus, hostLoopMs, tinyGuestDisk } from './tiny-guest.ts'

/** What was found by starting guests. */
export const Acceleration = Type.Object({
  accelerator: choice(['kvm', 'tcg']),
  /** First line of `qemu-system-x86_64 --version`. */
  version: Type.String(),
  /** Why KVM does not run guests; null where it does. */
  refusal: Type.Union([Type.String(), Type.Null()]),
  /** How many times longer a guest's loop takes than the same loop on this processor. */
  slowdown: Type.Number(),
})
export type Acceleration = Static<typeof Acceleration>

/** Where to look, and for how long. */
export interface AccelerationOptions {
  /** File that keeps the answer. */
  readonly cache: string
  readonly program?: string
  /** Milliseconds for the tiny guest under each; a guest that works needs less than one, on a busy machine a few. */
  readonly limitsMs?: Readonly<Record<Accelerator, number>>
}

/** A guest hangs under KVM that takes so many times what it took under emulation; on a busy machine both take long. */
const hangs = { factor: 4, leastMs: 2_000 } as const

const usualLimitsMs = { kvm: 10_000, tcg: 60_000 } as const

/** Answers out of `cache` where that holds still. Throws `missing_program`, or `no_accelerator` where no guest runs. */
export const findAcceleration = async (options: AccelerationOptions): Promise<Acceleration> => {
  const named = options.program ?? 'qemu-system-x86_64'
  const program = Bun.which(named)
  if (program === null) {
    throw new Failure(
      'missing_program',
      `"${named}" is not installed, which runs virtual machines. Install it: apt-get install qemu-system-x86 qemu-utils.`,
      { program: named, packages: ['qemu-system-x86', 'qemu-utils'] },
    )
  }
  const situation = await situationOf(program)
  const kept = await readKept(options.cache, situation)
  if (kept !== undefined) return kept
  const found = await probe(program, options.limitsMs ?? usualLimitsMs)
  await keep(options.cache, { situation, found })
  return found
}

/** What the answer hangs on: this boot, this QEMU, this user, and the device as it stands. */
const situationOf = async (program: string): Promise<string> => {
  const boot = await Promise.try(bootId).catch(() => String(process.ppid))
  const path = await realpath(program)
  const { mtimeMs, size } = await stat(path)
  const device = await stat('/dev/kvm').then(
    ({ rdev, mode, uid, gid }) => [rdev, mode, uid, gid].join(':'),
    () => 'absent',
  )
  const groups = process.getgroups?.() ?? []
  return [boot, path, mtimeMs, size, device, process.getuid?.(), ...groups].join(' ')
}

const Kept = Type.Object({ situation: Type.String(), found: Acceleration })

const readKept = async (cache: string, situation: string): Promise<Acceleration | undefined> => {
  try {
    const kept: unknown = JSON.parse(await readFile(cache, 'utf8'))
    return Value.Check(Kept, kept) && kept.situation === situation ? kept.found : undefined
  } catch {
    return undefined
  }
}

/** A cache that cannot be written is none: the next one asks again. */
const keep = async (cache: string, kept: Static<typeof Kept>): Promise<void> => {
  const next = `${cache}.${crypto.randomUUID()}`
  try {
    await mkdir(dirname(cache), { recursive: true })
    await writeFile(next, `${JSON.stringify(kept)}\n`)
    await rename(next, cache)
  } catch {
    await rm(next, { force: true })
  }
}

const probe = async (program: string, limitsMs: Readonly<Record<Accelerator, number>>): Promise<Acceleration> => {
  const version = (await Bun.$`${program} --version`.quiet().nothrow().text()).split('\n')[0] ?? ''
  // Not awaited: who ends in between would leave it.
  const folder = mkdtempSync('/tmp/backlot-probe-')
  const ending = new AbortController()
  // Who asks may end meanwhile.
  const leaveNothing = () => {
    ending.abort()
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', leaveNothing)
  try {
    const disk = join(folder, 'disk')
    await writeFile(disk, tinyGuestDisk())
    const found = (accelerator: Accelerator, { loopMs }: Through, refusal: string | null): Acceleration => {
      const slowdown = Math.max(1, Math.round((loopMs / hostLoopMs()) * 10) / 10)
      return { accelerator, version, refusal, slowdown }
    }
    const began = performance.now()
    const emulated = await start({ program, accelerator: 'tcg', disk, limitMs: limitsMs.tcg, signal: ending.signal })
    const emulatedMs = performance.now() - began
    const limitMs = 'loopMs' in emulated ? Math.max(hangs.leastMs, Math.ceil(hangs.factor * emulatedMs)) : limitsMs.kvm
    const nativeMs = Math.min(limitsMs.kvm, limitMs)
    const native = await start({ program, accelerator: 'kvm', disk, limitMs: nativeMs, signal: ending.signal })
    if ('loopMs' in native) return found('kvm', native, null)
    if ('loopMs' in emulated) return found('tcg', emulated, native.refusal)
    const refusals = [native.refusal, emulated.refusal]
    throw new Failure(
      'no_accelerator',
      `"${program}" runs no guest here. With KVM: ${refusals[0]} Without: ${refusals[1]} Install it anew: apt-get install --reinstall qemu-system-x86 seabios.`,
      { program, refusals },
    )
  } finally {
    leaveNothing()
    process.off('exit', leaveNothing)
  }
}

/** What came of a guest that got through. */
interface Through {
  readonly loopMs: number
}

interface Start {
  readonly program: string
  readonly accelerator: Accelerator
  readonly disk: string
  readonly limitMs: number
  /** Ends the guest. */
  readonly signal: AbortSignal
}

const start = async (options: Start): Promise<Through | { refusal: string }> => {
  const { program, accelerator, disk, limitMs, signal } = options
  const child = Bun.spawn(
    [
      program,
      ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-machine', 'pc', '-m', '16'],
      ...['-accel', accelerator, '-cpu', 'max', '-drive', `if=floppy,format=raw,readonly=on,file=${disk}`],
      ...['-chardev', 'stdio,id=out,signal=off', '-device', 'isa-debugcon,iobase=0xe9,chardev=out'],
      ...['-device', 'isa-debug-exit,iobase=0xf4,iosize=4'],
    ],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout: limitMs, killSignal: 'SIGKILL', signal },
  )
  const complaint = child.stderr.text()
  const seenAt: Record<string, number> = {}
  for await (const part of child.stdout) {
    for (const mark of new TextDecoder().decode(part)) seenAt[mark] = performance.now()
  }
  const status = await child.exited
  const { B: begun, E: ended } = seenAt
  if (status === guestExitStatus && begun !== undefined && ended !== undefined) return { loopMs: ended - begun }
  if (child.signalCode === 'SIGKILL')
    return { refusal: `the guest did not get through in ${Math.round(limitMs / 100) / 10} s.` }
  const last = (await complaint)
    .trim()
    .split('\n')
    .at(-1)
    ?.replace(/^qemu[\w-]*: /, '')
  return { refusal: `${(last || `QEMU ended with status ${status}`).replace(/\.+$/, '')}.` }
}
