import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execute, type Place, topmost } from '../runner/execute.ts'
import type { Job } from '../runner/job.ts'
import { adoptDescendants } from '../runner/machine.ts'

const root = join(import.meta.dir, '../..')
const isPossible = Bun.spawnSync([join(root, 'tests/support/apart'), '--probe']).success
let results = ''
beforeAll(() => {
  results = mkdtempSync(join(root, 'target/backlot-execute-'))
  adoptDescendants()
})
afterAll(() => rmSync(results, { recursive: true }))

/** A job whose one test has this body; `loaded` is run before it, when the file is loaded. */
const jobOf = async (name: string, body: string, loaded = ''): Promise<Job> => {
  const file = join(results, `${name}.test.ts`)
  const text = `import { expect, test } from 'bun:test'\nimport { writeFileSync } from 'node:fs'\n`
  await Bun.write(file, `${text}${loaded}\ntest('acts', () => { ${body} })\n`)
  const files = [file.slice(root.length + 1)]
  return { name, runner: 'bun', files, network: 'own', soaks: false, dangerous: false, minutes: 1 }
}
const places: [string, boolean][] = [
  ['on the machine', false],
  ...(isPossible ? [['in namespaces', true] as [string, boolean]] : []),
]

for (const [where, apart] of places) {
  const place = (): Place => ({ root, results, apart })
  const name = (word: string) => `${word}-${apart}`

  test(`${where}, a process that outlives its test fails the job by name, and is ended`, async () => {
    const job = await jobOf(
      name('process'),
      `Bun.spawnSync(['setsid', '-f', 'sleep', '61.7'], { env: {}, stdio: ['ignore', 'ignore', 'ignore'] })`,
    )
    const result = await execute(job, place())
    expect(result.counts).toEqual({ passed: 1, failed: 1, skipped: 0 })
    expect(result.failed[0]).toMatch(/^left behind: process \d+ \(state S\): \S*sleep 61\.7/)
    expect(Bun.spawnSync(['pgrep', '-f', 'sleep 61.[7]']).stdout.toString()).toBe('')
  })

  test(`${where}, a socket of a display that stays fails the job`, async () => {
    const stays = `require('node:fs').mkdirSync('/tmp/.X11-unix', { recursive: true }); writeFileSync('/tmp/.X11-unix/X7411', '')`
    const result = await execute(await jobOf(name('socket'), stays), place())
    if (!apart) rmSync('/tmp/.X11-unix/X7411', { force: true })
    expect(result.failed[0]).toMatch(/^left behind: .*\/tmp\/\.X11-unix\/X7411(;|$)/)
  })

  test(`${where}, a test that passes and leaves nothing counts as passed`, async () => {
    const result = await execute(await jobOf(name('clean'), `expect(1).toBe(1)`), place())
    expect([result.counts, result.left]).toEqual([{ passed: 1, failed: 0, skipped: 0 }, []])
  })
}

test('a file none of whose tests is asked for fails by nothing that it makes when it is loaded', async () => {
  const made = join(tmpdir(), `backlot-unasked-${process.pid}`)
  const job = await jobOf(
    'unasked',
    `expect(1).toBe(1)`,
    `require('node:fs').mkdirSync('${made}', { recursive: true })`,
  )
  const result = await execute({ ...job, tests: 'another name' }, { root, results, apart: isPossible })
  rmSync(made, { recursive: true, force: true })
  expect([result.counts, result.failed]).toEqual([{ passed: 0, failed: 0, skipped: 0 }, []])
})

test.skipIf(!isPossible)('in namespaces, a mount and a file in a shared folder that stay fail the job', async () => {
  const body = `writeFileSync('/dev/shm/word', ''); Bun.spawnSync(['mount', '-t', 'tmpfs', 'x', '/mnt'])`
  const result = await execute(await jobOf('mount', body), { root, results, apart: true })
  expect(result.left).toEqual(['mount /mnt', 'file /dev/shm/word'])
})

test.skipIf(!isPossible)('in namespaces, what a test writes to the checkout is thrown away', async () => {
  const before = readFileSync(join(root, 'README.md'), 'utf8')
  const body = `writeFileSync('README.md', ''); expect(require('node:fs').readFileSync('README.md', 'utf8')).toBe('')`
  const result = await execute(await jobOf('thrown-away', body), { root, results, apart: true })
  expect(result.counts.passed).toBe(1)
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe(before)
})

test('what is left in a folder is told with the folder', () => {
  const inside = ['a', 'a/b', 'c', 'd', 'e'].map((name) => `file /tmp/x/${name}`)
  expect(topmost(['process 7: sleep', 'file /tmp/x', ...inside, 'file /tmp/xy'])).toEqual([
    'process 7: sleep',
    'file /tmp/x (with a, a/b, c and 2 more)',
    'file /tmp/xy',
  ])
})
