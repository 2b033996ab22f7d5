/**
 * Eight forks of one VM at work for three minutes (ten with `--soak-scale 1.25`): each goes on with its own, they share what they
 * have not written to, their parent may go first, and a host that is short of memory makes no more of them.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../support/guest.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost } from '../support/vmhost.ts'
import { call, checkDisk, create, get, giveImage, image, names, run, sharedMemory } from '../support/vms.ts'

setDefaultTimeout(limitMs(900_000))

const forks = Array.from({ length: rounds(8) }, (_, index) => `fork-${index}`)
const workMs = 180_000
/** Milliseconds in which each gets on, whatever else the machine does. */
const getsOnWithinMs = 120_000

/** Kibibytes of a process that are resident, and its part of them where others have them too (proc(5), smaps_rollup). */
const memoryOf = (pid: number | null) => {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const of = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1])
  return { resident: of('Rss'), part: of('Pss') }
}

/** Writes to the disk and to memory, and counts how often. */
const work = `mkdir -p /run/t && mount -t tmpfs t /run/t
(n=0; while :; do
  dd if=/dev/urandom of=/var/work bs=64k count=16 2>/dev/null && md5sum /var/work >/run/t/sum
  n=$((n + 1)); echo $n >/run/t/n
done) >/dev/null 2>&1 &`

test('many forks at work harm nobody, and more are refused before they would', async () => {
  await using host = await startVmHost()
  await giveImage(host)
  const folder = (name: string) => join(host.home, 'data/vms', name)
  const inside = async (name: string, command: string): Promise<string> => {
    const [status, body] = await call(host, 'POST', `/svc/vms/${name}/exec`, { command })
    expect([status, body]).toEqual([200, expect.objectContaining({ exitCode: 0 })])
    return String(body.stdout).trim()
  }
  await create(host, 'parent', { image })
  await run(host, 'parent')
  await inside('parent', work)
  const boot = await inside('parent', 'cat /proc/sys/kernel/random/boot_id')
  const [status, made] = await call(host, 'POST', '/svc/vms/parent/fork', { names: forks })
  expect([status, made.identity]).toEqual([200, forks.map(() => 'own')])

  const counted = (name: string) => inside(name, 'cat /run/t/n').then(Number)
  const allGetOn = async () => {
    for (const name of forks) {
      const before = await counted(name)
      await until(`"${name}" to get on`, async () => (await counted(name)) > before, getsOnWithinMs)
    }
  }
  const began = performance.now()
  await allGetOn()
  const pids = await Promise.all(forks.map(async (name) => (await get(host, name)).pid))
  const memory = pids.map(memoryOf)
  const total = (which: 'resident' | 'part') => memory.reduce((sum, each) => sum + each[which], 0) >> 10
  console.info(`${forks.length} forks: ${total('part')} MiB, were nothing shared ${total('resident')} MiB`)
  for (const vm of await Promise.all(forks.map((name) => get(host, name))))
    expect(sharedMemory(vm).shared).toBeGreaterThan(8 * 1024)

  // The parent goes first; what its forks have of it stays.
  expect((await call(host, 'POST', '/svc/vms/parent/stop', { graceSeconds: 0 }))[0]).toBe(200)
  expect((await call(host, 'DELETE', '/svc/vms/parent'))[0]).toBe(200)
  while (performance.now() - began < workMs) await allGetOn()
  expect(await Promise.all(forks.map((name) => inside(name, 'cat /proc/sys/kernel/random/boot_id')))).toEqual(
    forks.map(() => boot),
  )
  expect(new Set(await Promise.all(forks.map((name) => inside(name, 'cat /etc/machine-id')))).size).toBe(forks.length)

  // The kernel tells all programs of this test's namespace that memory is short.
  const told = join(host.home, 'meminfo')
  writeFileSync(told, readFileSync('/proc/meminfo', 'utf8').replace(/(?<=^MemAvailable: +)\d+/m, '40000'))
  await runProgram('mount', '--bind', told, '/proc/meminfo')
  try {
    const [first = ''] = forks
    const [, refused] = await call(host, 'POST', `/svc/vms/${first}/fork`, { names: ['more'] })
    expect(refused.code).toBe('host_memory')
    expect((await names(host)).sort()).toEqual([...forks].sort())
    expect(pids.slice(1)).toEqual(await Promise.all(forks.slice(1).map(async (name) => (await get(host, name)).pid)))
    await allGetOn()
  } finally {
    await runProgram('umount', '/proc/meminfo')
  }

  for (const name of forks) {
    expect((await call(host, 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 0 }))[0]).toBe(200)
    expect(checkDisk(folder(name))).toBe(0)
    expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
  }
  expect(readdirSync(join(host.home, 'data/vms')).filter((name) => name !== '.bases.lock')).toEqual([])
})
