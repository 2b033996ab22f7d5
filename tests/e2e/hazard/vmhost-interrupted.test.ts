/** A stop waits for no other work: starts and changes of a VM are interrupted. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Operation } from '@backlot/contract/vmhost/operation'
import { until } from '../../support/until.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { call, create, ended, get, isAlive, run, small } from '../../support/vms.ts'

let home: string
let host: VmHost

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'backlot-interrupted-'))
})

afterEach(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const tiny = { ...small, memory: '64MB' } as const
const folder = (name: string) => join(home, 'data/vms', name)
const stop = (name: string, body: object = {}) => call(host, 'POST', `/svc/vms/${name}/stop`, body)

/** A folder with a QEMU that does what `words` of a shell say where it is to run a VM. */
const qemuThat = (words: string): string => {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const program = join(bin, 'qemu-system-x86_64')
  const real = Bun.which('qemu-system-x86_64')
  writeFileSync(program, `#!/bin/sh\ncase "$*" in *-pidfile*) ${words} ;; esac\nexec ${real} "$@"\n`)
  chmodSync(program, 0o755)
  return `${bin}:${process.env.PATH}`
}

test('a start whose hypervisor is silent is cancelled, and leaves nothing', async () => {
  const PATH = qemuThat(`echo $$ >"${home}/pid"; exec sleep 600`)
  host = await startVmHost(['--port', '0'], home, { BACKLOT_HOME: home, PATH })
  await create(host, 'silent', tiny)
  const [, { operationId }] = await call(host, 'POST', '/svc/vms/silent/run', {})
  const pid = await until('the hypervisor', async () =>
    Number(
      await Bun.file(join(home, 'pid'))
        .text()
        .catch(() => ''),
    ),
  )
  // Left alone it would fail with `hypervisor_timeout` after half a minute.
  expect(await stop('silent')).toEqual([200, expect.objectContaining({ method: 'forced' })])
  expect((await ended(host, String(operationId))).state).toBe('cancelled')
  expect(isAlive(pid)).toBe(false)
  expect(await get(host, 'silent')).toMatchObject({ status: 'stopped', lastError: null, pid: null })
  expect(readdirSync(folder('silent')).filter((file) => /lock|run\.json|pid/.test(file))).toEqual([])
  expect(readdirSync(join(home, 'state/vm'))).toEqual([])
  expect((await stop('silent'))[1].code).toBe('vm_not_running')
})

test('a start that has not begun for want of an accelerator to run on is cancelled', async () => {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'qemu-system-x86_64'), `#!/bin/sh\necho $$ >>"${home}/probes"; exec sleep 600\n`)
  chmodSync(join(bin, 'qemu-system-x86_64'), 0o755)
  host = await startVmHost(['--port', '0'], home, { BACKLOT_HOME: home, PATH: `${bin}:${process.env.PATH}` })
  await create(host, 'waiting', tiny)
  const [, { operationId }] = await call(host, 'POST', '/svc/vms/waiting/run', {})
  await until(
    'the tiny guest',
    async () =>
      (await Bun.file(join(home, 'probes'))
        .text()
        .catch(() => '')) !== '',
  )
  expect((await stop('waiting'))[0]).toBe(200)
  expect((await ended(host, String(operationId))).state).toBe('cancelled')
  for (const pid of (await Bun.file(join(home, 'probes')).text()).trim().split('\n')) {
    if (isAlive(Number(pid))) process.kill(Number(pid), 'SIGKILL')
  }
})

test('a change of memory that the guest does not follow is cancelled by a stop', async () => {
  host = await startVmHost(['--port', '0'], home)
  await create(host, 'slow', tiny)
  const { pid } = await run(host, 'slow')
  const setting = call(host, 'PATCH', '/svc/vms/slow', { memory: '32MB' })
  const { id } = await until('the change', async () => {
    const [, operations] = await call(host, 'GET', '/svc/operations')
    return (operations as unknown as Operation[]).find(({ kind, state }) => kind === 'set' && state === 'running')
  })
  expect((await stop('slow', { graceSeconds: 0 }))[0]).toBe(200)
  // Left alone it would fail with `vm_running` once the guest has stood still for long enough.
  expect((await setting)[1].code).toBe('cancelled')
  expect((await ended(host, id)).state).toBe('cancelled')
  expect(isAlive(pid)).toBe(false)
  expect((await get(host, 'slow')).memorySize).toBe(64 * 2 ** 20)
})

test('a change of one whose hypervisor hung before the service came is refused with the reason', async () => {
  host = await startVmHost(['--port', '0'], home)
  await create(host, 'silent', tiny)
  const { pid } = await run(host, 'silent')
  process.kill(pid as number, 'SIGSTOP')
  await host.kill()
  host = await startVmHost(['--port', '0'], home)
  for (const change of [{ diskSize: '2GB' }, { memory: '32MB' }]) {
    expect((await call(host, 'PATCH', '/svc/vms/silent', change))[1].code).toBe('hypervisor_lost')
  }
  expect((await stop('silent'))[0]).toBe(200)
  expect(isAlive(pid)).toBe(false)
})

test('one of a hypervisor that hangs is, too', async () => {
  host = await startVmHost(['--port', '0'], home)
  await create(host, 'hung', tiny)
  const { pid } = await run(host, 'hung')
  process.kill(pid as number, 'SIGSTOP')
  const setting = call(host, 'PATCH', '/svc/vms/hung', { memory: '32MB' })
  const id = await until('the change', async () => {
    const [, operations] = await call(host, 'GET', '/svc/operations')
    return (operations as unknown as Operation[]).find(({ kind, state }) => kind === 'set' && state === 'running')?.id
  })
  expect((await stop('hung'))[0]).toBe(200)
  expect([(await setting)[1].code, (await ended(host, id)).state]).toEqual(['cancelled', 'cancelled'])
  expect(isAlive(pid)).toBe(false)
})
