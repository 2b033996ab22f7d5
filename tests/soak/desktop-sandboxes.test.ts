/** Sandboxes of `Image.desktop()` that are VMs: forks of what booted once, used through the SDK, with the guest as witness. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { withAllIds } from '@backlot/local'
import { Image, runtimes, Sandbox } from '@backlot/sdk'
import { runBacklot } from '../support/backlot.ts'
import { runProgram } from '../support/guest.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { limitMs } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { names } from '../support/vms.ts'

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

test('the second starts from the template of the first, is seen, operated, suspended with its text, and each is its own', async () => {
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
  for (const name of ['one', 'two']) await Sandbox.delete(name)
  expect((await names(host)).filter((name) => !name.startsWith('template.'))).toEqual([])
})
