import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand } from '../support/backlot.ts'
import { scratchFolder } from '../support/scratch.ts'

const patience = 60_000

const demo = async (env: Record<string, string> = {}) => {
  const kept = scratchFolder('demo')
  const child = Bun.spawn(backlotCommand('demo', 'driver', '--keep', kept), {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { stdout, stderr, status, read: (name: string) => readFileSync(join(kept, name)), kept }
}

test(
  'the demo drives an editor and leaves picture, tree, calls and document behind',
  async () => {
    const { stdout, stderr, status, read, kept } = await demo()
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout.split('\n').filter((line) => /^ *\d+ ms {2}\S/.test(line)).length).toBe(12)
    expect(stdout).toEndWith(`${kept}\n`)
    expect(read('screenshot.png').subarray(1, 4).toString()).toBe('PNG')
    expect(read('tree.md').toString()).toContain('menu "View"')
    expect(read('letter.txt').toString()).toMatch(/^A letter\n\n.*Привет.*\n.*\n$/)
    const calls = read('calls.jsonl')
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { tool: string; failed: boolean })
    expect(calls.filter(({ failed }) => failed)).toEqual([])
    expect(calls.map(({ tool }) => tool)).toContain('type_text')
  },
  patience,
)

test(
  'a step that fails is named, and what was seen is kept',
  async () => {
    const core = join(import.meta.dir, '../support/fixtures/failing-core.cjs')
    const { status, stderr, kept } = await demo({ BACKLOT_NATIVE_PATH: core, BACKLOT_TEST_CODE: 'display_refused' })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^error: ".+" failed: .+/m)
    expect(stderr).toContain(kept)
  },
  patience,
)

test('an editor that is not installed is named with its package', async () => {
  const { status, stderr } = await demo({ PATH: '/nonexistent' })
  expect(status).toBe(1)
  expect(stderr).toContain('apt-get install mousepad')
})
