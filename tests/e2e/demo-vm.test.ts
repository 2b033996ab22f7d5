import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { linuxMinimal } from '../support/image.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(300_000)

/** A home whose cache has the image, and a temporary folder in which whatever stays is seen. */
const home = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bl-demo-'))
  await mkdir(join(folder, 'cache/images'), { recursive: true })
  await mkdir(join(folder, 'tmp'))
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

test('an interrupted demo ends its VM and its service', async () => {
  await using place = await home()
  const child = Bun.spawn(backlotCommand('demo', 'vm'), {
    env: { ...process.env, ...place.env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let text = ''
  const reading = (async () => {
    for await (const part of child.stdout) text += new TextDecoder().decode(part)
  })()
  await until('the VM to be started', () => text.includes('start it'), 120_000)
  child.kill('SIGINT')
  await reading
  expect([await child.exited, await child.stderr.text()]).toEqual([1, expect.stringContaining('interrupted')])
  expect(await place.left()).toEqual([])
})
