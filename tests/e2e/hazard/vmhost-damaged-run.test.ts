/** Records of runs that a disk has damaged: what lives is found without them. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
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

/** The first bytes that a VNC server says. */
const greeting = (vncUrl: string | null): Promise<string> => {
  const [, address = '', port] = /@(.+):(\d+)$/.exec(vncUrl ?? '') ?? []
  return new Promise((settle, fail) => {
    const socket = connect({ host: address, port: Number(port) })
    socket.on('error', fail)
    socket.on('data', (data) => {
      socket.destroy()
      settle(data.toString('latin1').slice(0, 4))
    })
  })
}

test('a damaged record of a run that is over keeps nobody from the VM', async () => {
  await create(host, 'over', tiny)
  writeFileSync(inFolder('over', 'run.json'), '{')
  expect(await names(host)).toEqual(['over'])
  expect((await get(host, 'over')).status).toBe('stopped')
  expect((await call(host, 'DELETE', '/svc/vms/over'))[0]).toBe(200)
})

test('a run whose record is damaged is told again by its hypervisor, and stopped', async () => {
  const shared = join(home, 'given, or lent')
  mkdirSync(shared)
  await create(host, 'alive', tiny)
  const before = await run(host, 'alive', { sharedDirectories: [{ hostPath: shared, readOnly: true }] })
  expect(before.sharedDirectories).toHaveLength(1)
  await restart(() => writeFileSync(inFolder('alive', 'run.json'), '{'))
  const after = await get(host, 'alive')
  const told = ['status', 'pid', 'accelerator', 'ipAddress', 'forwards', 'sharedDirectories', 'memorySize'] as const
  for (const field of told) expect([field, after[field]]).toEqual([field, before[field]])
  expect(await greeting(after.vncUrl)).toBe('RFB ')
  expect(JSON.parse(readFileSync(inFolder('alive', 'run.json'), 'utf8'))).toMatchObject({ hypervisor: 'qemu' })
  expect((await stop('alive'))[0]).toBe(200)
  expect(isAlive(before.pid)).toBe(false)
  const { pid } = await run(host, 'alive')
  process.kill(pid as number, 'SIGKILL')
  await until('its end to be seen', async () => (await get(host, 'alive')).status === 'stopped')
}, 90_000)

test('one that stands still and has lost its record and the note of its pid is ended by force', async () => {
  await create(host, 'still', tiny)
  const { pid } = await run(host, 'still')
  process.kill(pid as number, 'SIGSTOP')
  await restart(() => {
    for (const file of ['run.json', 'hypervisor.pid']) rmSync(inFolder('still', file))
  })
  expect(await get(host, 'still')).toMatchObject({ status: 'running', pid })
  expect(await stop('still')).toEqual([200, expect.objectContaining({ method: 'forced' })])
  expect(isAlive(pid)).toBe(false)
}, 90_000)

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
