/** The first boot of a template, until it is saved. */
import { Failure } from '@backlot/contract/failure'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { createPlanned } from '../lifecycle/create-planned.ts'
import type { CreateInput, Plan } from '../sources/source.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { newIdentity, type VmSettings } from '../vms/vm-settings.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { sweepTemplates } from './sweep.ts'

/** What decides which template a VM is a fork of. */
export interface TemplateOf {
  readonly plan: Plan
  readonly settings: VmSettings
  readonly diskBytes: number
  readonly input: Pick<CreateInput, 'userData' | 'executable'>
}

/** Milliseconds that a first boot may take: a server of Debian takes two minutes without KVM. */
const bootsWithinMs = 600_000
/** Milliseconds between two looks at the computer server, and that one answer may take. */
const looks = { everyMs: 100, answersWithinMs: 5_000 } as const
const serverPort = 8_000
/** Bytes that are read of what a computer server says about itself. */
const mostStatusBytes = 64 * 1024

/** Settles in the guest when what it does at its first boot only is done. */
const firstBootDone = `if [ -s /run/seed/user-data ]; then
  while [ ! -e /var/lib/backlot/first-boot-done ]; do sleep 0.1; done
fi
if command -v cloud-init >/dev/null; then cloud-init status --wait >/dev/null 2>&1 || true; fi
sync`

/** Makes a template, boots it, and saves it once its first boot is over. What fails or is cancelled leaves nothing. */
export const bootTemplate = async (host: Host, place: VmPlace, about: TemplateOf, work: Task): Promise<void> => {
  const { plan, settings, diskBytes, input } = about
  let isMade = false
  await sweepTemplates(host, [place.storage], place)
  const boot = async () => {
    isMade = true
    const vm = await host.store.reread(place)
    work.step('booting a template')
    const machine = await host.machines.start(vm, { hasDisplay: false, sharedDirectories: [] }, work)
    try {
      await firstBoot(machine, about, work)
      work.step('saving the template')
      await machine.suspend(work)
    } catch (error) {
      await machine.kill()
      await machine.ended
      const { code, message } = Failure.from(error)
      throw work.signal.aborted || code === 'template_not_made' ? error : notReady(message.replace(/\.$/, ''))
    }
  }
  try {
    const own = { ...settings, ...newIdentity() }
    await createPlanned(host, place, own, plan, diskBytes, input, work, boot)
  } catch (error) {
    if (isMade) await host.store.remove(place).catch(() => undefined)
    throw error
  }
}

const firstBoot = async (machine: Machine, { plan, input }: TemplateOf, { signal }: Task): Promise<void> => {
  const deadline = performance.now() + bootsWithinMs
  const { exitCode, stderr } = await unlessAborted(
    machine.guest.execute({ command: firstBootDone }, bootsWithinMs),
    signal,
  )
  if (exitCode !== 0) throw notReady(`its guest says "${stderr.trim()}"`)
  if (plan.hasServer !== true && input.executable !== true) return
  const found = machine.forwards.find(({ guestPort }) => guestPort === serverPort)
  if (found === undefined) return
  while (!(await answers(`http://${found.address}:${found.port}/status`, input.executable === true))) {
    if (performance.now() > deadline) throw notReady('its computer server does not answer')
    await unlessAborted(Bun.sleep(looks.everyMs), signal)
  }
}

/** Whether a computer server is ready there; `isOurs`: not only one that stands for it. */
const answers = async (url: string, isOurs: boolean): Promise<boolean> => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(looks.answersWithinMs) })
    // One that asks for a key answers nothing else.
    if (answer.status === 401) return true
    const { phase, server } = JSON.parse(await statusIn(answer)) as { phase?: unknown; server?: unknown }
    return answer.ok && !(isOurs && server === 'none') && (phase === undefined || phase === 'ready')
  } catch {
    return false
  }
}

/** The text of an answer; throws where it is too long for a status. */
const statusIn = async (answer: Response): Promise<string> => {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of answer.body ?? []) {
    length += part.byteLength
    if (length > mostStatusBytes) throw new Error('too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

const notReady = (why: string): Failure =>
  new Failure(
    'template_not_made',
    `No template can be made: ${why}. Make the VM without one, or mend its first boot.`,
    { reason: why },
  )
