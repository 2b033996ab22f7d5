/** `images/linux-desktop` as a disk: built of packages, booted under emulation, seen and operated. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { withAllIds } from '@backlot/local'
import { runBacklot } from '../support/backlot.ts'
import { runProgram } from '../support/guest.ts'
import { limitMs } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, run } from '../support/vms.ts'

setDefaultTimeout(limitMs(900_000))

const bootMs = 300_000
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
})

afterAll(async () => {
  // Files of the root belong to other users.
  await runProgram('env', ...withAllIds(), 'rm', '-rf', join(host.home, 'state/local-roots'))
  await host[Symbol.asyncDispose]()
})

const build = async () => {
  const { status, stdout, stderr } = await runBacklot(['image', 'build', 'linux-desktop'], { BACKLOT_HOME: host.home })
  expect([status, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

test('the disk is built of packages whose versions are told, whole, and not again', async () => {
  const { folder, wasThere } = await build()
  expect([folder, wasThere]).toEqual([join(host.home, 'cache/images/linux-desktop_latest'), false])
  const disk = join(folder, 'disk.raw')
  await runProgram('/sbin/e2fsck', '-fn', disk)
  const versions = readFileSync(join(folder, 'packages.txt'), 'utf8').trim().split('\n')
  for (const name of ['chromium', 'openbox', 'tigervnc-standalone-server', 'qemu-guest-agent', 'busybox-static']) {
    expect(versions.filter((line) => line.startsWith(`${name}=`))).toHaveLength(1)
  }
  expect(versions.every((line) => /^[a-z0-9][a-z0-9+.-]*=\S+$/.test(line))).toBe(true)
  expect(JSON.parse(readFileSync(join(folder, 'image.json'), 'utf8')).runsExecutable).toBe(true)
  const { mtimeMs } = statSync(disk)
  expect([(await build()).wasThere, statSync(disk).mtimeMs]).toEqual([true, mtimeMs])
})

test('it boots to a desktop that is seen, typed into and read, obeys its seed, is forked, and is turned off', async () => {
  const userData = '#cloud-config\nruncmd:\n  - [ sh, -c, "dpkg-query -W chromium >/var/ran" ]\n'
  const body = { os: 'linux', cpu: 2, memory: '2GB', diskSize: '6GB', display: '1024x768', image: 'linux-desktop' }
  expect((await call(host, 'POST', '/svc/vms', { ...body, name: 'desk', userData }))[0]).toBe(200)
  const begun = performance.now()
  await run(host, 'desk')
  const { ipAddress } = (await call(host, 'GET', '/svc/vms/desk'))[1]
  await ready(String(ipAddress))
  console.info(`desktop after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  const ask = commandsOf(String(ipAddress))
  expect((await ask('get_screen_size')).size).toEqual({ width: 1024, height: 768 })
  expect(
    Buffer.from(String((await ask('screenshot')).image_data), 'base64')
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')
  await ask('launch', { app: 'mousepad' })
  await until(
    'the editor',
    async () => JSON.stringify((await ask('get_application_windows', { app: 'mousepad' })).windows) !== '[]',
    bootMs,
  )
  await ask('type_text', { text: 'Grüße' })
  const text = async () => JSON.stringify(await ask('get_accessibility_tree'))
  await until('what was typed', async () => (await text()).includes('Grüße'), bootMs)
  const shell = async (command: string) => String((await ask('run_command', { command })).stdout)
  await until('the seed to be obeyed', async () => (await shell('cat /var/ran')).startsWith('chromium'), bootMs)
  expect(await shell('hostname; id -un; cat /sys/class/block/vdc/ro; command -v apt-get')).toBe(
    'desk\nroot\n1\n/usr/bin/apt-get\n',
  )
  await until(
    'the disk to have grown',
    async () => Number(await shell("df -k / | awk 'END { print $2 }'")) > 5e6,
    bootMs,
  )
  expect((await fetch(`http://${ipAddress}:8000/view`, { signal: AbortSignal.timeout(60_000) })).status).toBe(200)

  const [status, { names }] = await call(host, 'POST', '/svc/vms/desk/fork', { count: 1 })
  expect([status, names]).toEqual([200, ['desk-1']])
  const fork = (await call(host, 'GET', '/svc/vms/desk-1'))[1]
  await ready(String(fork.ipAddress))
  expect(fork.identity).toBe('own')
  expect(String((await commandsOf(String(fork.ipAddress))('run_command', { command: 'hostname' })).stdout)).toBe(
    'desk-1\n',
  )
  for (const name of ['desk', 'desk-1']) {
    const [stopped, { method }] = await call(host, 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 120 })
    expect([stopped, method]).toEqual([200, expect.stringMatching(/^(agent|acpi)$/)])
  }
  await runProgram('qemu-img', 'check', '-q', join(host.home, 'data/vms/desk/disk.qcow2'))
})

const ready = (address: string) =>
  until(
    'the desktop',
    async () => {
      const answer = await fetch(`http://${address}:8000/status`, { signal: AbortSignal.timeout(5_000) }).catch(
        () => null,
      )
      return ((await answer?.json()) as { phase?: string } | undefined)?.phase === 'ready'
    },
    bootMs,
  )

/** Commands of the computer server at the address, which have to succeed. */
const commandsOf =
  (address: string) =>
  async (command: string, params: object = {}): Promise<Record<string, unknown>> => {
    const body = JSON.stringify({ command, params })
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`http://${address}:8000/cmd`, { method: 'POST', headers, body })
    const result = JSON.parse((await answer.text()).replace(/^data: /, ''))
    if (result.success !== true) throw new Error(`${command}: ${JSON.stringify(result)}`)
    return result
  }
