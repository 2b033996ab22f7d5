/** The memory and the devices of a QEMU, written to a file and read from one by its migration. */
import { open, rm } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { unlessAborted } from '../../unless-aborted.ts'
import type { Progress } from '../hypervisor.ts'
import type { Qmp } from './qmp.ts'

/** What QEMU answers to `query-migrate`; without a status there was none. */
interface Migration {
  readonly status?: string
  readonly ram?: { readonly transferred: number; readonly total: number }
  readonly 'error-desc'?: string
}

/** Milliseconds until the first look how far it is, and between two at most: what is small has ended soon. */
const looks = { firstMs: 2, everyMs: 20, factor: 1.5 } as const
/** Milliseconds that QEMU may take to give up a migration, or for a command while the host is busy. */
const answersWithinMs = 15_000
/** Milliseconds that QEMU may take to read a memory, during which it answers nothing. */
const readsWithinMs = 600_000
/** Bytes a second, more than any drive takes: the guest stands still meanwhile. */
const bandwidth = 2 ** 40
/** The name under which the hypervisor knows the file. */
const fileName = 'memory'

const query = (qmp: Qmp, withinMs = answersWithinMs) => qmp.execute<Migration>('query-migrate', undefined, withinMs)

/** Whether the machine can go on after this: it is stopped, and no migration is under way. */
const over = ['completed', 'failed', 'cancelled', 'none']

/**
 * Stops the guest's processor and writes its memory to a new file. When it settles the guest stands still and its disk is
 * written; when it throws (`memory_not_saved`, `disk_full`, or cancelled), it runs on, and there is no file.
 */
export const saveMemory = async (qmp: Qmp, name: string, path: string, work: Progress): Promise<void> => {
  await rm(path, { force: true })
  try {
    await using file = await open(path, 'wx', 0o600)
    await qmp.execute('stop', undefined, answersWithinMs)
    await write(qmp, file.fd, work.signal, (bytes) => work.progress(bytes, null))
  } catch (error) {
    await goOn(qmp).catch(() => undefined)
    await rm(path, { force: true })
    if (work.signal.aborted) throw work.signal.reason
    throw notSaved(name, error as Error)
  }
}

const write = async (
  qmp: Qmp,
  descriptor: number,
  signal: AbortSignal,
  progress: (bytes: number) => void,
): Promise<void> => {
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': bandwidth })
  await qmp.give(fileName, descriptor)
  await qmp.execute('migrate', { uri: `fd:${fileName}` }, answersWithinMs)
  for (let pauseMs: number = looks.firstMs; ; pauseMs = Math.min(looks.everyMs, pauseMs * looks.factor)) {
    const { status, ram, 'error-desc': why } = await unlessAborted(query(qmp), signal)
    if (ram !== undefined) progress(ram.transferred)
    if (status === 'completed') return
    if (status === 'failed' || status === 'cancelled') throw new Error(why ?? `the migration was ${status}`)
    await unlessAborted(Bun.sleep(pauseMs), signal)
  }
}

/** Gives up a migration that is under way, and lets the processor run. */
export const goOn = async (qmp: Qmp): Promise<void> => {
  await qmp.execute('migrate_cancel', undefined, answersWithinMs)
  const deadline = performance.now() + answersWithinMs
  while (!over.includes((await query(qmp)).status ?? 'none') && performance.now() < deadline)
    await Bun.sleep(looks.everyMs)
  await qmp.execute('cont', undefined, answersWithinMs)
}

const notSaved = (name: string, error: Error): Failure => {
  const { code, message } = Failure.from(error)
  if (code === 'hypervisor_lost') return Failure.from(error)
  const why = message.replace(/\.$/, '')
  if (/No space left|ENOSPC/.test(why) || (error as NodeJS.ErrnoException).code === 'ENOSPC') {
    return new Failure('disk_full', `There is no room for the memory of "${name}". Make room, then suspend it again.`, {
      name,
    })
  }
  return new Failure(
    'memory_not_saved',
    `The memory of "${name}" cannot be saved: ${why}. Unmount shared folders in the guest, or stop the VM instead.`,
    { name, reason: why },
  )
}

/**
 * Has a QEMU that was started to wait for it read a memory; its processor stands still afterwards. Throws what the
 * connection throws (a QEMU that cannot read it ends), and when cancelled.
 */
export const loadMemory = async (qmp: Qmp, path: string, signal: AbortSignal): Promise<void> => {
  await using file = await open(path, 'r')
  await qmp.give(fileName, file.fd)
  await unlessAborted(qmp.execute('migrate-incoming', { uri: `fd:${fileName}` }, readsWithinMs), signal)
  for (let pauseMs: number = looks.firstMs; ; pauseMs = Math.min(looks.everyMs, pauseMs * looks.factor)) {
    const { status, 'error-desc': why } = await unlessAborted(query(qmp, readsWithinMs), signal)
    if (status === 'completed') return
    if (status === 'failed') throw new Error(why ?? 'the migration failed')
    await unlessAborted(Bun.sleep(pauseMs), signal)
  }
}

/** The version of a QEMU that answers, like `7.2.22`. */
export const versionOf = async (qmp: Qmp): Promise<string> => {
  const { qemu } = await qmp.execute<{ qemu: { major: number; minor: number; micro: number } }>('query-version')
  return `${qemu.major}.${qemu.minor}.${qemu.micro}`
}

/** The versioned name of the machine that it shows its guest, like `pc-q35-7.2`. */
export const machineTypeOf = async (qmp: Qmp): Promise<string> =>
  (await qmp.execute<string>('qom-get', { path: '/machine', property: 'type' })).replace(/-machine$/, '')
