/** Records of runs that a disk has damaged: what lives is shown as damaged, and can be ended. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { call, create, get, isAlive, names, run, small } from '../../support/vms.ts'

let host: VmHost
let home: string

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'backlot-damaged-'))
  host = await startVmHost(['--port', '0'], home)
})

afterEach(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const tiny = { ...small, memory: '32MB' } as const
const inFolder = (name: string, file: string) => join(home, 'data/vms', name, file)
const stop = (name: string) => call(host, 'POST', `/svc/vms/${name}/stop`)

/** Ends the service in the middle of everything, does damage, and starts the next service. */
const restart = async (damage: () => void) => {
  await host.kill()
  damage()
  host = await startVmHost(['--port', '0'], home)
}

test('a damaged record of a run that is over keeps nobody from the VM', async () => {
  await create(host, 'over', tiny)
  writeFileSync(inFolder('over', 'run.json'), '{')
  expect(await names(host)).toEqual(['over'])
  expect((await get(host, 'over')).status).toBe('stopped')
  expect((await call(host, 'DELETE', '/svc/vms/over'))[0]).toBe(200)
})

test('a run whose record is damaged is listed with the reason, harms no other, and can be ended and deleted', async () => {
  for (const name of ['alive', 'lost', 'sound']) await create(host, name, tiny)
  const [alive, lost, sound] = [await run(host, 'alive'), await run(host, 'lost'), await run(host, 'sound')]
  await restart(() => {
    writeFileSync(inFolder('alive', 'run.json'), '{')
    rmSync(inFolder('lost', 'run.json'))
  })
  const [, vms] = await call(host, 'GET', '/svc/vms')
  expect(vms as unknown).toMatchObject([
    { name: 'alive', status: 'damaged', pid: null, lastError: expect.stringContaining(inFolder('alive', 'run.json')) },
    { name: 'lost', status: 'damaged', pid: null, lastError: expect.stringContaining(inFolder('lost', 'run.json')) },
    { name: 'sound', status: 'running', pid: sound.pid, lastError: null },
  ])
  for (const { name, pid } of [alive, lost]) {
    expect((await call(host, 'POST', `/svc/vms/${name}/run`, {}))[1].code).toBe('vm_damaged')
    expect((await call(host, 'DELETE', `/svc/vms/${name}`))[1].code).toBe('vm_running')
    expect(await stop(name)).toEqual([200, expect.objectContaining({ method: 'forced' })])
    expect(isAlive(pid)).toBe(false)
    expect(await get(host, name)).toMatchObject({ status: 'stopped', lastError: null })
    expect((await stop(name))[1].code).toBe('vm_not_running')
  }
  const { pid } = await run(host, 'alive')
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'alive')).status === 'stopped')
  for (const name of ['alive', 'lost']) expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
  expect((await stop('sound'))[0]).toBe(200)
  expect(readdirSync(join(home, 'state/vm'))).toEqual([])
})

test('one whose record speaks of another hypervisor is not taken for that', async () => {
  for (const name of ['mixed', 'other']) await create(host, name, tiny)
  const [mixed, other] = [await run(host, 'mixed'), await run(host, 'other')]
  await restart(() => {
    const record = JSON.parse(readFileSync(inFolder('mixed', 'run.json'), 'utf8'))
    const { qmpSocket } = JSON.parse(readFileSync(inFolder('other', 'run.json'), 'utf8'))
    writeFileSync(inFolder('mixed', 'run.json'), JSON.stringify({ ...record, qmpSocket: `${qmpSocket}.mine` }))
    renameSync(qmpSocket, `${qmpSocket}.mine`)
    symlinkSync(`${qmpSocket}.mine`, qmpSocket)
  })
  await until('the one that is sound to be found', async () => (await get(host, 'other')).pid === other.pid)
  expect((await stop('mixed'))[0]).toBe(200)
  expect([mixed.pid, other.pid].map(isAlive)).toEqual([false, true])
  expect((await stop('other'))[0]).toBe(200)
})

test('one that stands still and has lost its record and the note of its pid is ended by force', async () => {
  await create(host, 'still', tiny)
  const { pid } = await run(host, 'still')
  process.kill(pid as number, 'SIGSTOP')
  await restart(() => {
    for (const file of ['run.json', 'hypervisor.pid']) rmSync(inFolder('still', file))
  })
  expect((await get(host, 'still')).status).toBe('damaged')
  expect(await stop('still')).toEqual([200, expect.objectContaining({ method: 'forced' })])
  expect(isAlive(pid)).toBe(false)
})

test('a lock that another program holds is told with its pid, and nothing is ended', async () => {
  await create(host, 'held', tiny)
  await host.kill()
  writeFileSync(inFolder('held', 'run.json'), '{')
  const child = Bun.spawn(
    ['bash', '-c', 'exec 3>"$0"; flock -n 3 && echo held && exec sleep 600', inFolder('held', 'lock')],
    { stdout: 'pipe' },
  )
  await child.stdout.getReader().read()
  host = await startVmHost(['--port', '0'], home)
  expect(await names(host)).toEqual(['held'])
  const [status, { code, message }] = await stop('held')
  expect([status, code, message]).toEqual([400, 'vm_damaged', expect.stringContaining(`process ${child.pid}, no hyp`)])
  expect(child.exitCode).toBeNull()
  child.kill()
  await child.exited
  await until('the VM to be stopped', async () => (await call(host, 'GET', '/svc/vms/held'))[1].status === 'stopped')
  expect((await call(host, 'DELETE', '/svc/vms/held'))[0]).toBe(200)
})
