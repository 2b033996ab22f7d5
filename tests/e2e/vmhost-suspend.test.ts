import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { giveGuest, runningGuest } from '../support/prepared-guest.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { booted, call, checkDisk, create, get, isAlive, run } from '../support/vms.ts'

let host: VmHost
/** The first service of the home, with which that goes. */
let owner: VmHost

beforeAll(async () => {
  owner = await startVmHost()
  host = owner
  await giveGuest(host)
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  await owner[Symbol.asyncDispose]()
})

const file = (name: string, entry: string) => join(host.home, 'data/vms', name, entry)

const suspend = (name: string) => call(host, 'POST', `/svc/vms/${name}/suspend`)
const resume = (name: string) => call(host, 'POST', `/svc/vms/${name}/resume`)

/** What a command in the guest prints. */
const inside = async (name: string, command: string): Promise<string> => {
  const [status, body] = await call(host, 'POST', `/svc/vms/${name}/exec`, { command })
  expect([status, body]).toEqual([200, expect.objectContaining({ exitCode: 0 })])
  return String(body.stdout).trim()
}

/** What the kernel of the guest calls this boot. */
const bootOf = (name: string) => inside(name, 'cat /proc/sys/kernel/random/boot_id')

const refusal = (code: string, text = '') => [
  expect.any(Number),
  expect.objectContaining({ code, message: expect.stringContaining(text) }),
]

/** Whether a clock of so many seconds since 1970 is right, but for what a busy machine takes to read it. */
const hasTime = (seconds: number): boolean => Math.abs(seconds - Date.now() / 1000) < 60

/** A client of an agent that asks for more than its socket holds, says when that is full, and reads nothing of it. */
const neverReads = `
import array, fcntl, socket, sys, termios, time
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b'{"execute": "guest-info"}\\n' * 100)
held, since = array.array('i', [0]), time.monotonic()
while held[0] == 0 or time.monotonic() - since < 2:
    before = held[0]
    fcntl.ioctl(client, termios.FIONREAD, held)
    since = since if held[0] == before else time.monotonic()
    time.sleep(0.02)
print('full', flush=True)
time.sleep(600)
`

describe('a VM that is suspended', () => {
  let boot: string

  test('is saved with its memory, and has no process any more', async () => {
    const { pid } = await runningGuest(host, 'one')
    boot = await bootOf('one')
    // What lives in memory alone: a process that counts, in a file system that is memory.
    await inside('one', 'mkdir -p /run/t && mount -t tmpfs t /run/t')
    await inside('one', '(n=0; while :; do n=$((n+1)); echo $n >/run/t/n; sleep 0.1; done) >/dev/null 2>&1 &')
    await inside('one', 'echo kept >/run/t/word; echo written >/var/written; sync')
    // As if it had been saved for years.
    await inside('one', 'date -u -s 2020-02-02 >/dev/null')
    expect(await suspend('one')).toEqual([200, { message: 'Virtual machine suspended: one' }])
    expect(isAlive(pid)).toBe(false)
    expect(await get(host, 'one')).toMatchObject({
      status: 'suspended',
      pid: null,
      ipAddress: null,
      lastError: null,
      lastEnding: { cause: 'It was suspended.', expected: true },
    })
    expect(checkDisk(file('one', ''))).toBe(0)
    // A tenth of what it has, at least: not the record of a memory alone.
    expect((await readFile(file('one', 'memory.state'))).length).toBeGreaterThan(25 * 2 ** 20)
  })

  test('is neither changed, copied, stopped nor suspended again', async () => {
    const refused = refusal('vm_suspended', '"one"')
    expect(await call(host, 'PATCH', '/svc/vms/one', { memory: '300MB' })).toEqual(refused as never)
    expect(await call(host, 'POST', '/svc/vms/clone', { name: 'one', newName: 'two' })).toEqual(refused as never)
    expect(await call(host, 'POST', '/svc/vms/one/stop')).toEqual(refused as never)
    expect(await call(host, 'POST', '/svc/vms/one/exec', { command: 'true' })).toEqual(refused as never)
    expect(await suspend('one')).toEqual(refused as never)
    const sharedDirectories = [{ hostPath: host.home }]
    const { operationId } = (await call(host, 'POST', '/svc/vms/one/run', { sharedDirectories }))[1]
    const operation = await until('the end of the start', async () => {
      const [, found] = await call(host, 'GET', `/svc/operations/${operationId}`)
      return found.state !== 'running' && found
    })
    expect(operation.cause).toMatchObject({ code: 'vm_suspended' })
    expect((await get(host, 'one')).status).toBe('suspended')
  })

  test('is still that for the next service, and goes on where it was', async () => {
    await host.kill()
    host = await startVmHost(['--port', '0'], host.home)
    expect((await get(host, 'one')).status).toBe('suspended')
    expect(await resume('one')).toEqual([200, { message: 'Virtual machine resumed: one' }])
    const vm = await get(host, 'one')
    expect([vm.status, isAlive(vm.pid)]).toEqual(['running', true])
    expect(await bootOf('one')).toBe(boot)
    expect(await inside('one', 'cat /run/t/word /var/written')).toBe('kept\nwritten')
    const counted = Number(await inside('one', 'cat /run/t/n'))
    await until('the process to count on', async () => Number(await inside('one', 'cat /run/t/n')) > counted)
    await until('the guest to have the time', async () => hasTime(Number(await inside('one', 'date +%s'))))
    expect(await booted(vm)).toMatchObject({ status: 'ok' })
    expect([file('one', 'saved.json'), file('one', 'memory.state')].filter(existsSync)).toEqual([])
    expect(await resume('one')).toEqual(refusal('vm_running', '"one"') as never)
  })

  test('goes on when it is run', async () => {
    expect((await suspend('one'))[0]).toBe(200)
    await run(host, 'one')
    expect(await bootOf('one')).toBe(boot)
  })

  test('stays suspended where this QEMU cannot read its memory, and says both versions', async () => {
    expect((await suspend('one'))[0]).toBe(200)
    const record = await readFile(file('one', 'saved.json'), 'utf8')
    const saved = JSON.parse(record)
    const give = (changes: object) => writeFile(file('one', 'saved.json'), JSON.stringify({ ...saved, ...changes }))
    await give({ version: '99.1.0' })
    const [status, body] = await resume('one')
    expect([status, body.code]).toEqual([409, 'memory_unreadable'])
    expect(body.message).toContain('QEMU 99.1.0')
    expect(body.message).toContain(`QEMU ${saved.version}`)
    await give({ machineType: 'pc-q35-99.1' })
    expect(await resume('one')).toEqual(refusal('memory_unreadable', 'pc-q35-99.1') as never)
    await give({ savedAt: '2001-01-01T00:00:00.000Z' })
    expect(await resume('one')).toEqual(refusal('memory_unreadable', 'written to since') as never)
    await writeFile(file('one', 'saved.json'), '{')
    expect(await resume('one')).toEqual(refusal('memory_unreadable', 'saved.json') as never)
    await writeFile(file('one', 'saved.json'), record)
    await copyFile(file('one', 'memory.state'), join(host.home, 'memory'))
    await truncate(file('one', 'memory.state'), 10_000_000)
    expect(await resume('one')).toEqual(refusal('memory_unreadable', saved.version) as never)
    expect(await get(host, 'one')).toMatchObject({ status: 'suspended', pid: null })
    await copyFile(join(host.home, 'memory'), file('one', 'memory.state'))
    expect((await resume('one'))[0]).toBe(200)
    expect(await bootOf('one')).toBe(boot)
  })

  test('is left whole by a service that is killed while it saves or reads a memory', async () => {
    for (const verb of ['suspend', 'resume']) {
      const asked = call(host, 'POST', `/svc/vms/one/${verb}`).catch(() => undefined)
      await until('the work to begin', async () => {
        const [, found] = await call(host, 'GET', '/svc/operations')
        return (found as unknown as { kind: string; state: string; step: string | null }[]).some(
          ({ kind, state, step }) => kind === verb && state === 'running' && step,
        )
      })
      await host.kill()
      await asked
      host = await startVmHost(['--port', '0'], host.home)
      const { status } = await until('the VM to be found', async () => {
        const vm = await get(host, 'one')
        return ['running', 'suspended'].includes(vm.status) && vm.lastError === null && vm
      })
      if (verb === 'suspend' && status === 'running') expect((await suspend('one'))[0]).toBe(200)
      if (verb === 'resume' && status === 'suspended') expect((await resume('one'))[0]).toBe(200)
    }
    expect(await bootOf('one')).toBe(boot)
    expect(existsSync(file('one', '.memory.next'))).toBe(false)
  })

  test('is suspended again where the hypervisor of a service that died answers late', async () => {
    expect((await suspend('one'))[0]).toBe(200)
    const asked = resume('one').catch(() => undefined)
    const pid = await until('the hypervisor', async () => {
      const text = await readFile(file('one', 'hypervisor.pid'), 'utf8').catch(() => '')
      return Number(text) || undefined
    })
    process.kill(pid, 'SIGSTOP')
    await host.kill()
    await asked
    host = await startVmHost(['--port', '0'], host.home)
    expect(await get(host, 'one')).toMatchObject({ pid, lastError: expect.stringContaining('does not answer') })
    process.kill(pid, 'SIGCONT')
    await until('the VM to be suspended', async () => (await get(host, 'one')).status === 'suspended')
    expect(isAlive(pid)).toBe(false)
    expect((await resume('one'))[0]).toBe(200)
    expect(await bootOf('one')).toBe(boot)
  })

  test('is spoken with again where its agent was saved in the middle of an answer', async () => {
    const { agentSocket } = JSON.parse(await readFile(file('one', 'run.json'), 'utf8'))
    await using client = Bun.spawn(['python3', '-c', neverReads, agentSocket], { stdout: 'pipe' })
    const { value } = await client.stdout.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('full\n')
    expect((await suspend('one'))[0]).toBe(200)
    expect((await resume('one'))[0]).toBe(200)
    // Whoever sets the clock has the port first, and would hold it for 30 s without an answer.
    const asked = { command: 'cat /proc/sys/kernel/random/boot_id', timeoutSeconds: 25 }
    expect(await call(host, 'POST', '/svc/vms/one/exec', asked)).toEqual([
      200,
      expect.objectContaining({ stdout: `${boot}\n` }),
    ])
  })

  test('is one to the command too, which says so, and is deleted with its memory', async () => {
    const backlot = (...words: string[]) =>
      runBacklot(['vm', ...words], { BACKLOT_HOST_URL: host.url, BACKLOT_HOME: host.home })
    const printed = async (...words: string[]) => {
      const { status, stdout } = await backlot(...words)
      expect(status).toBe(0)
      return JSON.parse(stdout)
    }
    expect(await printed('suspend', 'one')).toMatchObject({ name: 'one', status: 'suspended' })
    expect(await printed('get', 'one')).toMatchObject({ status: 'suspended' })
    expect(await printed('resume', 'one')).toMatchObject({ name: 'one', status: 'running' })
    const again = await backlot('resume', 'one')
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('"one"')])
    expect((await call(host, 'DELETE', '/svc/vms/one'))[1]).toMatchObject({ code: 'vm_running' })
  })

  test('boots anew where its memory is discarded, and may have shared folders then', async () => {
    const shared = join(host.home, 'shared')
    await mkdir(shared)
    expect((await suspend('one'))[0]).toBe(200)
    const options = { noDisplay: true, discardMemory: true, sharedDirectories: [{ hostPath: shared }] }
    const vm = await run(host, 'one', options)
    await booted(vm)
    expect(await bootOf('one')).not.toBe(boot)
    const kept = 'cat /var/written /sys/class/net/eth0/address; hostname'
    expect(await inside('one', kept)).toBe(`written\n${vm.macAddress}\none`)
  })

  test('is not saved while it has a shared folder mounted and runs on; one that has unmounted it keeps it', async () => {
    expect(await suspend('one')).toEqual(refusal('memory_not_saved', 'mounted in the guest') as never)
    expect((await get(host, 'one')).status).toBe('running')
    await inside('one', 'echo here >/mnt/shared/shared/file; umount /mnt/shared/shared')
    expect((await suspend('one'))[0]).toBe(200)
    expect((await resume('one'))[0]).toBe(200)
    await inside('one', 'mount -t 9p -o trans=virtio,version=9p2000.L shared /mnt/shared/shared')
    expect(await inside('one', 'cat /mnt/shared/shared/file; umount /mnt/shared/shared')).toBe('here')
    expect((await suspend('one'))[0]).toBe(200)
    expect((await call(host, 'DELETE', '/svc/vms/one'))[0]).toBe(200)
    expect(existsSync(file('one', ''))).toBe(false)
  })

  test('is none where it is stopped', async () => {
    await create(host, 'empty')
    expect(await resume('empty')).toEqual(refusal('vm_not_suspended', '"empty"') as never)
    expect(await suspend('empty')).toEqual(refusal('vm_not_running', '"empty"') as never)
  })
})
