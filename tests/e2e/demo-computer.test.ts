import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { scratchFolder } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const patience = 120_000

/** Processes that name the folder in their arguments. */
const processesOf = (folder: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return command.includes(folder) ? [command] : []
      } catch {
        return []
      }
    })

/** Processes whose folder for temporary files it is. */
const usersOf = (folder: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}`)
      } catch {
        return false
      }
    })

/** Folders for temporary files, into which a program that is being ended may write until it has ended. */
const folders: string[] = []

afterAll(async () => {
  for (const folder of folders) {
    await until('the folder to go', () => {
      try {
        rmSync(folder, { recursive: true, force: true })
      } catch {
        return false
      }
      return !existsSync(folder)
    })
  }
})

const places = () => {
  const kept = scratchFolder('kept')
  const temporary = mkdtempSync(join(tmpdir(), 'backlot-d-'))
  folders.push(temporary)
  // An engine with the image would be used: the one here is the desktop of this machine.
  const env = { TMPDIR: temporary, DOCKER_HOST: 'unix:///nonexistent', CONTAINER_HOST: 'unix:///nonexistent' }
  // The compiled executable keeps its unpacked native core there.
  return { kept, temporary, env, left: () => readdirSync(temporary).filter((name) => name.startsWith('backlot-demo')) }
}

test(
  'the demo uses a terminal, files and a browser of a computer, and leaves picture, page and file behind',
  async () => {
    const { kept, temporary, env, left } = places()
    const { stdout, stderr, status } = await runBacklot(['demo', 'computer', '--keep', kept], env)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout.split('\n').filter((line) => /^ *\d+ ms {2}\S/.test(line)).length).toBe(9)
    expect(stdout).toMatch(/^The view, for a browser: http:\/\/127\.0\.0\.1:\d+\/view$/m)
    expect(stdout).toEndWith(`${kept}\n`)
    const read = (name: string) => readFileSync(join(kept, name))
    expect(read('screenshot.png').subarray(1, 4).toString()).toBe('PNG')
    expect(read('from-terminal.txt').toString()).toBe('Grüße 世界 😀\n')
    const page = JSON.parse(read('page.json').toString()) as { role: string; title: string; size: { width: number } }
    expect(page).toMatchObject({ role: 'heading', title: 'A page on a computer of its own' })
    expect(page.size.width).toBeGreaterThan(100)
    expect([left(), processesOf(temporary)]).toEqual([[], []])
    await until('all of it to end', () => usersOf(temporary).length === 0)
  },
  patience,
)

const confined = join(import.meta.dir, '../support/fixtures/without-namespaces.sh')
const canConfine = Bun.spawnSync([confined, 'true'], { stdout: 'ignore', stderr: 'ignore' }).success

test.skipIf(!canConfine)(
  'the demo plays without privileges and without namespaces, as in a container',
  async () => {
    const { kept, env } = places()
    const child = Bun.spawn([confined, ...backlotCommand('demo', 'computer', '--keep', kept)], {
      env: { ...process.env, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    expect([status, stderr]).toEqual([0, ''])
    expect(JSON.parse(readFileSync(join(kept, 'page.json'), 'utf8'))).toMatchObject({ role: 'heading' })
  },
  patience,
)

test(
  'with --stay the view is there until Ctrl+C, and nothing is afterwards',
  async () => {
    const { kept, temporary, env, left } = places()
    const child = Bun.spawn(backlotCommand('demo', 'computer', '--stay', '--keep', kept), {
      env: { ...process.env, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    let text = ''
    const reading = (async () => {
      for await (const part of child.stdout) text += new TextDecoder().decode(part)
    })()
    const [, view = ''] = await until('the demo to stay', () => /stays until Ctrl\+C: (\S+)/.exec(text), 60_000)
    expect((await fetch(view)).status).toBe(200)
    child.kill('SIGINT')
    await reading
    expect([await child.exited, left(), processesOf(temporary)]).toEqual([0, [], []])
    await until('all of it to end', () => usersOf(temporary).length === 0)
  },
  patience,
)

test('a program that is not installed is named with its package', async () => {
  const { env } = places()
  const { status, stderr } = await runBacklot(['demo', 'computer'], { ...env, PATH: '/nonexistent' })
  expect(status).toBe(1)
  expect(stderr).toContain('apt-get install lxterminal')
})
