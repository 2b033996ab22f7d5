/**
 * Sandboxes of `Image.desktop()` that are VMs: forks of what booted once, used through the SDK, with the guest as witness. The
 * second is forked four times with an editor open, kept as a snapshot, and put back.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { withAllIds } from '@backlot/local'
import { Image, runtimes, Sandbox } from '@backlot/sdk'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { runProgram } from '../support/guest.ts'
import { hostKeys } from '../support/host-keys.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { limitMs } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { get, names } from '../support/vms.ts'

setDefaultTimeout(limitMs(900_000))

const timeoutMs = 300_000
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
  const { status, stderr } = await runBacklot(['image', 'build', 'linux-desktop'], { BACKLOT_HOME: host.home })
  expect([status, stderr]).toEqual([0, ''])
})

afterAll(async () => {
  // Files of the root belong to other users.
  await runProgram('env', ...withAllIds(), 'rm', '-rf', join(host.home, 'state/local-roots'))
  await host[Symbol.asyncDispose]()
})

test('the second starts from the template of the first, is operated, suspended, forked, kept and put back, and each is its own', async () => {
  sandboxHome()
  const runtime = runtimes.vmhost({ url: host.url })
  const start = async (name: string): Promise<Sandbox> => {
    const begun = performance.now()
    const sandbox = await Sandbox.create(Image.desktop(), {
      ...{ runtime, name, timeoutMs },
      memoryMb: 2_048,
      diskGb: 6,
    })
    expect(
      Buffer.from(await sandbox.screenshot())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG')
    console.info(`"${name}" seen after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    return sandbox
  }
  const [one, two] = [await start('one'), await start('two')]
  const lineOf = async (sandbox: Sandbox, line: string) => (await sandbox.shell.run(line)).stdout.trim()
  expect([await lineOf(one, 'hostname'), await lineOf(two, 'hostname')]).toEqual(['one', 'two'])
  expect(await lineOf(one, 'cat /etc/machine-id')).not.toBe(await lineOf(two, 'cat /etc/machine-id'))
  expect((await names(host)).filter((name) => name.startsWith('template.'))).toHaveLength(1)

  await two.launch('mousepad')
  const field = await until('the editor', () => two.screen.find({ role: 'text' }), timeoutMs)
  await two.mouse.click(field.center.x, field.center.y)
  await two.keyboard.type('Grüße, 世界')
  const typed = (sandbox: Sandbox) => sandbox.screen.find({ role: 'text', value: 'Grüße' })
  expect((await until('what was typed', () => typed(two), timeoutMs)).value).toContain('世界')
  await two.clipboard.set('kept')
  expect([await two.clipboard.get(), await lineOf(one, 'pidof mousepad || echo none')]).toEqual(['kept', 'none'])
  await two.files.write('/var/note', 'of two')
  expect(await lineOf(two, 'cat /var/note')).toBe('of two')

  await Sandbox.suspend('two')
  const again = await Sandbox.resume('two', { timeoutMs })
  expect((await typed(again))?.value).toContain('世界')
  expect(await lineOf(again, 'cat /var/note')).toBe('of two')
  await Sandbox.delete('one')

  // Four forks of a desktop that runs, each with the open editor, and each a machine of its own.
  const bootId = 'cat /proc/sys/kernel/random/boot_id'
  // The kernel makes it up when it is first read.
  const boot = await lineOf(again, bootId)
  const begun = performance.now()
  const forks = await again.fork(4, { timeoutMs })
  console.info(`four forks after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  const family = [again, ...forks]
  const all = (line: string) => Promise.all(family.map((each) => lineOf(each, line)))
  for (const line of [
    'hostname',
    'cat /etc/machine-id',
    'cat /sys/class/net/e*/address',
    'head -c 16 /dev/urandom | od -An -tx1',
  ]) {
    const told = await all(line)
    expect([line, new Set(told).size, told.includes('')]).toEqual([line, family.length, false])
  }
  const keys = (await Promise.all(family.map(async ({ name }) => hostKeys(await get(host, name))))).flat()
  expect(new Set(keys).size).toBe(family.length)
  const shell = Bun.spawn(backlotCommand('vm', 'shell', 'two'), {
    ...{ env: { ...process.env, BACKLOT_HOST_URL: host.url }, stdin: new Blob(['hostname\n']), stderr: 'pipe' },
  })
  expect([await shell.stdout.text(), await shell.exited, await shell.stderr.text()]).toEqual([
    expect.stringContaining('two\n'),
    0,
    '',
  ])
  expect(await all(bootId)).toEqual(family.map(() => boot))
  for (const clock of await all('date +%s')) expect(Math.abs(Number(clock) - Date.now() / 1000)).toBeLessThan(60)
  for (const each of family) expect((await typed(each))?.value).toContain('世界')
  for (const each of family) await each.files.write('/var/note', `of ${each.name}`)
  expect(await all('cat /var/note')).toEqual(family.map(({ name }) => `of ${name}`))

  // What is kept comes back with its memory and its disk, and its forks go on without it.
  const kept = await again.snapshot({ timeoutMs })
  await again.clipboard.set('lost')
  await again.files.write('/var/note', 'lost')
  await again.restore(kept, { timeoutMs })
  expect([await again.clipboard.get(), await lineOf(again, 'cat /var/note')]).toEqual(['kept', 'of two'])
  expect((await typed(again))?.value).toContain('世界')
  await kept.delete()
  await Sandbox.delete('two')
  for (const fork of forks) {
    expect([await lineOf(fork, 'cat /var/note'), (await typed(fork))?.value]).toEqual([
      `of ${fork.name}`,
      expect.stringContaining('世界'),
    ])
    await Sandbox.delete(fork.name)
  }
  expect((await names(host)).filter((name) => !name.startsWith('template.'))).toEqual([])
})
