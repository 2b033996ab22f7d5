/** The demo of virtual machines: a service of its own, a small Linux out of Debian's packages, its copy, and their end. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { buildImage } from '@backlot/imagebuild'
import { settingsAt } from '@backlot/vmhost'
import { programCalled } from '../executable.ts'
import { type Service, serviceAt, Watch } from '../host/service.ts'
import { startProgress } from '../terminal/progress.ts'
import type { Steps } from './steps.ts'

/** Seconds within which a guest answers, under emulation on a busy machine. */
const answersWithinSeconds = 180

const settings = { os: 'linux', cpu: 1, memory: '256MB', diskSize: '1GB', display: '1024x768' } as const

/** Goes through a VM's life; whatever happens no VM and no service of it stays. */
export const demonstrateMachines = async (steps: Steps, signal: AbortSignal): Promise<void> => {
  const { cacheDirectory } = await settingsAt(placesOf(process.env)).read()
  await steps.run('have linux-minimal, out of Debian packages', async () => {
    using progress = startProgress()
    await buildImage('linux-minimal', {
      cacheDirectory,
      signal,
      onProgress: ({ step, percent }) => progress.show(step, percent),
    })
  })
  const folder = mkdtempSync(join(tmpdir(), 'backlot-demo-'))
  try {
    await using host = await steps.run('start a VM host', () => startHost(folder))
    const { service } = host
    await service.client.setConfig({ cacheDirectory })
    await goThrough(steps, service, folder, signal)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const goThrough = async (steps: Steps, service: Service, folder: string, signal: AbortSignal): Promise<void> => {
  const { client } = service
  const shared = join(folder, 'shared')
  mkdirSync(shared)
  writeFileSync(join(shared, 'question'), 'who are you?')
  const run = async (name: string): Promise<Vm> => {
    await using watch = await Watch.open(service, () => undefined)
    const { operationId } = await client.runVm({ name, sharedDirectories: [{ hostPath: shared }] })
    await watch.finished(operationId)
    return client.getVm({ name })
  }
  const shell = async (name: string, command: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await client.execInVm({ name, command })
    if (exitCode !== 0) throw new Failure('internal', `"${command}" failed in the guest: ${stderr.trim()}`)
    return stdout.trim()
  }

  await steps.run('make a VM', () => client.createVm({ name: 'first', image: 'linux-minimal', ...settings }))
  const vm = await steps.run('start it', () => run('first'))
  const answer = await steps.run('its first answer over HTTP', () => answered(vm, signal))
  if (answer.status !== 'ok') throw new Failure('internal', `The guest answered ${JSON.stringify(answer)}.`)
  await steps.run('a command in it, through the guest agent', async () => {
    await patiently(signal, () =>
      shell('first', 'grep -q who /mnt/shared/shared/question && hostname >/mnt/shared/shared/reply'),
    )
    const reply = readFileSync(join(shared, 'reply'), 'utf8').trim()
    if (reply !== 'first') throw new Failure('internal', `The shared folder holds "${reply}", not the guest's answer.`)
  })
  const { method } = await steps.run('stop it', () => client.stopVm({ name: 'first' }))
  if (method === 'forced') throw new Failure('internal', 'The guest did not shut down by itself.')
  await steps.run('copy it, without copying its disk', () => client.cloneVm({ name: 'first', newName: 'second' }))
  const copy = await steps.run('start the copy', () => run('second'))
  await steps.run('the copy knows that it is another', async () => {
    await answered(copy, signal)
    const name = await patiently(signal, () => shell('second', 'hostname'))
    if (name !== 'second') throw new Failure('internal', `The copy calls itself "${name}".`)
  })
  await steps.run('stop and delete both', async () => {
    await client.stopVm({ name: 'second' })
    await client.deleteVm({ name: 'second' })
    await client.deleteVm({ name: 'first' })
  })
}

const answered = ({ ipAddress }: Vm, signal: AbortSignal): Promise<{ status?: unknown }> =>
  patiently(signal, async () => {
    const answer = await fetch(`http://${ipAddress}:8000/status`, { signal: AbortSignal.timeout(2_000) })
    return (await answer.json()) as { status?: unknown }
  })

/** Tries until it succeeds, for a guest that is still coming up. */
const patiently = async <Value>(signal: AbortSignal, attempt: () => Promise<Value>): Promise<Value> => {
  const deadline = performance.now() + answersWithinSeconds * 1000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (signal.aborted) throw new Failure('cancelled', 'It was interrupted.')
      if (performance.now() > deadline) throw error
      await Bun.sleep(50)
    }
  }
}

/** A service with a home of its own; disposing of it ends its VMs, which nobody keeps, and it. */
const startHost = async (folder: string): Promise<AsyncDisposable & { service: Service }> => {
  const { command, argv0 } = programCalled('backlot')
  const child = Bun.spawn([...command, 'serve', '--port', '0'], {
    argv0,
    env: { ...process.env, [environment.home]: join(folder, 'home'), [environment.hostToken]: '' },
    // In a session of its own: a terminal's Ctrl+C would end it before its VMs are stopped.
    detached: true,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const log = child.stderr.text()
  const { value } = await child.stdout.getReader().read()
  const url = new TextDecoder().decode(value).trim()
  if (url === '') throw new Failure('host_unreachable', `The VM host did not start: ${(await log).trim()}`)
  const service = serviceAt(url)
  return {
    service,
    async [Symbol.asyncDispose]() {
      const vms = await service.client.listVms().catch(() => [])
      for (const { name, status } of vms) {
        if (status !== 'stopped') await service.client.stopVm({ name, graceSeconds: 0 }).catch(() => undefined)
      }
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
