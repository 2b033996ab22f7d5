/** `backlot demo`: a sandbox is made, seen, operated, reached and destroyed; and the first program of the README. */
import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { runProgram } from '../support/guest.ts'
import { scratchFolder } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const patience = 90_000
const root = join(import.meta.dir, '../..')

/** A home of its own, and a folder for what the demo leaves. */
const places = () => {
  const home = scratchFolder('demo-home')
  const kept = scratchFolder('demo')
  const temporary = scratchFolder('demo-temporary')
  const env = { BACKLOT_HOME: home, TMPDIR: temporary, DOCKER_HOST: 'unix:///nonexistent' }
  const sandboxes = join(home, 'state/local')
  const records = join(home, 'state/sandboxes')
  const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])
  /** Folders and records of sandboxes, temporary folders, and processes with this home. */
  const left = () => [
    ...namesIn(sandboxes).map(({ name }) => name),
    ...namesIn(records).flatMap((entry) => (entry.isFile() ? [entry.name] : [])),
    ...namesIn(temporary).flatMap(({ name }) => (name.startsWith('backlot-') ? [name] : [])),
    ...processesWith(home),
  ]
  return { kept, env, left }
}

const processesWith = (home: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const isOurs = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`BACKLOT_HOME=${home}`)
        return isOurs ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')] : []
      } catch {
        return []
      }
    })

const steps = (stdout: string) => [...stdout.matchAll(/^ *\d+ ms {2}(.*)$/gm)].map(([, step = '']) => step)

/** How many colours a picture has, and its size, as ImageMagick tells. */
const lookAt = async (path: string) => {
  const [width, height, colours] = (await runProgram('identify', '-format', '%w %h %k', path)).split(' ').map(Number)
  return { width, height, colours }
}

test(
  'the demo makes a sandbox, uses it in every way, and leaves its picture and tree and nothing else',
  async () => {
    const { kept, env, left } = places()
    const { stdout, stderr, status } = await runBacklot(['demo', '--keep', kept], env)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(steps(stdout)).toEqual([
      'find what starts sandboxes here',
      'start a desktop on the runtime "local"',
      'open an editor',
      'read its accessibility tree',
      'click into the text and type',
      'take a screenshot',
      'save it by a click in the menu',
      'read the file with a shell command',
      'reach a web server in it through a tunnel',
      'destroy it',
    ])
    expect(stdout).toContain('No package is installed: ')
    expect(stdout).toMatch(/^It is called \S+, isolated by host-programs\.$/m)
    expect(stdout).toMatch(/^Look at it, once, in a browser: http:\/\/127\.0\.0\.1:\d+\/view\?link=/m)
    expect(stdout).toEndWith(`${kept}\n`)
    expect(readdirSync(kept).toSorted()).toEqual(['screenshot.png', 'tree.json'])
    const picture = await lookAt(join(kept, 'screenshot.png'))
    expect(picture).toMatchObject({ width: 1280, height: 800 })
    expect(picture.colours).toBeGreaterThan(20)
    expect(readFileSync(join(kept, 'tree.json'), 'utf8')).toContain('"title": "File"')
    expect(left()).toEqual([])
  },
  patience,
)

const canMask = process.getuid?.() === 0 && Bun.spawnSync(['unshare', '--mount', 'true']).success

test.skipIf(!canMask)(
  'a step that fails is named, ends it with status 1, and leaves no sandbox',
  async () => {
    const failing = [
      ['mousepad', 'open an editor'],
      ['perl', 'reach a web server in it through a tunnel'],
    ] as const
    for (const [program, step] of failing) {
      const { kept, env, left } = places()
      const path = Bun.which(program) ?? ''
      const words = ['--mount', 'sh', '-c', `mount --bind /dev/null ${path} && exec "$@"`, 'sh']
      const child = Bun.spawn(['unshare', ...words, ...backlotCommand('demo', '--keep', kept)], {
        env: { ...process.env, ...env },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stderr, status] = await Promise.all([child.stderr.text(), child.exited, child.stdout.text()])
      expect([stderr, status]).toEqual([expect.stringContaining(`error: "${step}" failed: `), 1])
      expect(stderr).toContain(kept)
      expect(left()).toEqual([])
    }
  },
  patience,
)

test(
  'a Ctrl+C from a terminal, while it starts and later, ends it with status 1 and leaves no sandbox',
  async () => {
    for (const line of ['find what starts', 'start a desktop', 'open an editor']) {
      const { kept, env, left } = places()
      const child = Bun.spawn(backlotCommand('demo', '--keep', kept), {
        // A group of its own, all of which gets a terminal's Ctrl+C.
        detached: true,
        env: { ...process.env, ...env },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      let text = ''
      const reading = (async () => {
        for await (const part of child.stdout) text += new TextDecoder().decode(part)
      })()
      await until(line, () => text.includes(line), 30_000)
      process.kill(-child.pid, 'SIGINT')
      process.kill(-child.pid, 'SIGINT')
      await reading
      expect([await child.exited, await child.stderr.text()]).toEqual([1, expect.stringContaining('interrupted')])
      // The kernel ends what dies with its parent (prctl(2), PR_SET_PDEATHSIG) only after that has gone.
      await until('its programs to end', () => left().length === 0, 10_000).catch(() => undefined)
      expect(left()).toEqual([])
    }
  },
  patience,
)

const confined = join(import.meta.dir, '../support/fixtures/without-namespaces.sh')
const canConfine = Bun.spawnSync([confined, 'true'], { stdout: 'ignore', stderr: 'ignore' }).success

test.skipIf(!canConfine)(
  "without namespaces it says why there is no sandbox, and plays the driver's demo",
  async () => {
    const { kept, env, left } = places()
    const child = Bun.spawn([confined, ...backlotCommand('demo', '--keep', kept)], {
      env: { ...process.env, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('No sandbox can be started here')
    expect(stdout).toMatch(/^The reason: .*namespace/m)
    expect(steps(stdout)).toContain('read the saved file back')
    expect(readdirSync(kept)).toContain('letter.txt')
    expect(left()).toEqual([])
  },
  patience,
)

test(
  'the first program of the README is run as it stands there',
  async () => {
    const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
    expect(program).toContain('Sandbox.ephemeral')
    const { env, left } = places()
    // Below the project, where its packages are found.
    const folder = mkdtempSync(join(root, 'target/readme-'))
    try {
      writeFileSync(join(folder, 'first.ts'), program)
      const options = { extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
      await runProgram(process.execPath, join(root, 'node_modules/.bin/tsc'), '-p', folder)
      const child = Bun.spawn([process.execPath, 'first.ts'], {
        cwd: folder,
        env: { ...process.env, ...env },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      expect({ stdout, stderr, status }).toEqual({ stdout: 'Grüße, 世界\nLinux\n', stderr: '', status: 0 })
      const picture = await lookAt(join(folder, 'desktop.png'))
      expect(picture).toMatchObject({ width: 1280, height: 800 })
      expect(picture.colours).toBeGreaterThan(20)
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(left()).toEqual([])
  },
  patience,
)
