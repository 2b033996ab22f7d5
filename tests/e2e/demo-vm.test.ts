import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveAcceleration } from '../support/acceleration.ts'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { linuxMinimal } from '../support/image.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(300_000)

/** A home whose cache has the image, and a temporary folder in which whatever stays is seen. */
const home = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bl-demo-'))
  await mkdir(join(folder, 'cache/images'), { recursive: true })
  await mkdir(join(folder, 'tmp'))
  giveAcceleration(folder)
  await symlink((await linuxMinimal()).folder, join(folder, 'cache/images/linux-minimal_latest'))
  return {
    folder,
    env: { BACKLOT_HOME: folder, TMPDIR: join(folder, 'tmp') },
    // The compiled executable keeps its unpacked native core there.
    left: async () => (await readdir(join(folder, 'tmp'))).filter((name) => !name.startsWith('.bun-')),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

test('a VM lives its life step by step, and nothing is left of it', async () => {
  await using place = await home()
  const { stdout, stderr, status } = await runBacklot(['demo', 'vm'], place.env)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout.split('\n').filter((line) => /^ *\d+ ms {2}\S/.test(line)).length).toBe(11)
  expect(stdout).toEndWith('nothing of it is left.\n')
  expect(await place.left()).toEqual([])
})

/** The processes that name a folder in their arguments. */
const processesOf = async (folder: string): Promise<string[]> => {
  const commands = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  return commands.filter((command) => command.includes(folder))
}

test('a demo that is interrupted from a terminal, twice, ends its VM and its service', async () => {
  await using place = await home()
  const child = Bun.spawn(backlotCommand('demo', 'vm'), {
    // A group of its own, all of which gets a terminal's Ctrl+C.
    detached: true,
    env: { ...process.env, ...place.env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let text = ''
  const reading = (async () => {
    for await (const part of child.stdout) text += new TextDecoder().decode(part)
  })()
  await until('the VM to be started', () => text.includes('start it'), 120_000)
  expect((await processesOf(place.env.TMPDIR)).join()).toContain('qemu-system')
  process.kill(-child.pid, 'SIGINT')
  process.kill(child.pid, 'SIGINT')
  await reading
  expect([await child.exited, await child.stderr.text()]).toEqual([1, expect.stringContaining('interrupted')])
  expect(await processesOf(place.env.TMPDIR)).toEqual([])
  expect(await place.left()).toEqual([])
})
