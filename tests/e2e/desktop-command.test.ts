import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand } from '../support/backlot.ts'
import { killedParent } from '../support/killed-parent.ts'
import { scratchFolder } from '../support/scratch.ts'
import { leftOf } from '../support/traces.ts'
import { until } from '../support/until.ts'

const patience = 60_000

/** Runs `backlot desktop` to its end. */
const desktop = async (...words: string[]) => {
  const child = Bun.spawn(backlotCommand('desktop', ...words), { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { stdout, stderr, status }
}

const where = `echo "$XDG_RUNTIME_DIR" "$DISPLAY"`

const placeIn = (stdout: string) => {
  const [runtime = '', display = ''] = stdout.trim().split(' ')
  return { folder: join(runtime, '..'), display }
}

test(
  'a command runs on the desktop and gives its exit status',
  async () => {
    const { stdout, status } = await desktop(
      '--size',
      '800x600',
      '--',
      'sh',
      '-c',
      `xdotool getdisplaygeometry; exit 7`,
    )
    expect(stdout).toBe('800 600\n')
    expect(status).toBe(7)
  },
  patience,
)

test(
  'the status of a command that a signal ended is 128 and the number',
  async () => {
    expect((await desktop('--', 'sh', '-c', 'kill -KILL $$')).status).toBe(137)
  },
  patience,
)

test.skipIf(!process.env.BACKLOT_BIN)('a temporary folder that takes no native core is named', async () => {
  const child = Bun.spawn(backlotCommand('desktop', '--', 'true'), {
    env: { ...process.env, BUN_TMPDIR: '/nowhere' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stderr, status] = await Promise.all([child.stderr.text(), child.exited])
  expect([status, stderr.split('\n').length]).toEqual([1, 2])
  expect(stderr).toStartWith('error: The native core cannot be unpacked into "/nowhere" and loaded from there: ')
})

test('a command that is not there gives 127', async () => {
  const { status, stderr } = await desktop('--', 'backlot-no-such-program')
  expect(status).toBe(127)
  expect(stderr).toContain('"backlot-no-such-program"')
})

test(
  'what a command leaves running ends with the desktop',
  async () => {
    const { stdout, status } = await desktop('--', 'sh', '-c', `${where}; setsid sleep 1000 >/dev/null 2>&1 &`)
    expect(status).toBe(0)
    expect(leftOf(placeIn(stdout))).toEqual([])
  },
  patience,
)

test(
  'signals are handed on to the command',
  async () => {
    const script = `trap 'echo told; exit 3' TERM; echo ready; while :; do sleep 0.05; done`
    const child = Bun.spawn(backlotCommand('desktop', '--', 'sh', '-c', script), { stdin: 'ignore', stdout: 'pipe' })
    let said = ''
    const decoder = new TextDecoder()
    for await (const bytes of child.stdout) {
      said += decoder.decode(bytes)
      if (said === 'ready\n') child.kill('SIGTERM')
    }
    expect(said).toBe('ready\ntold\n')
    expect(await child.exited).toBe(3)
  },
  patience,
)

test(
  'what is typed at the terminal to interrupt the command leaves the desktop as it is',
  async () => {
    const folder = scratchFolder('desktop')
    const [ready, told] = [join(folder, 'ready'), join(folder, 'told')]
    const script = `trap 'xdotool getdisplaygeometry >${told}.new; mv ${told}.new ${told}' INT; >${ready}; until [ -e ${told} ]; do sleep 0.05; done; exit 3`
    const command = backlotCommand('desktop', '--', 'sh', '-c', script).map(
      (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
    )
    // Not every shell makes way for its last command by itself; one that stays is interrupted too.
    const line = `exec ${command.join(' ')}`
    const terminal = Bun.spawn(['script', '-qec', line, '/dev/null'], { stdin: 'pipe', stdout: 'ignore' })
    await until('the command', () => existsSync(ready))
    terminal.stdin.write('\x03')
    terminal.stdin.flush()
    await until('the command to be interrupted', () => existsSync(told))
    expect(readFileSync(told, 'utf8')).toBe('1280 800\n')
    expect(await terminal.exited).toBe(3)
  },
  patience,
)

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(
    `without a command it prints what a shell evaluates and stays until ${signal}`,
    async () => {
      const file = join(scratchFolder('desktop'), 'exports')
      const child = Bun.spawn(backlotCommand('desktop'), {
        env: { ...process.env, WAYLAND_DISPLAY: 'wayland-9' },
        stdin: 'ignore',
        stdout: Bun.file(file),
      })
      await until('the exports', () => existsSync(file) && readFileSync(file, 'utf8').includes('BACKLOT_DESKTOP'))
      const lines = readFileSync(file, 'utf8').trim().split('\n')
      expect(lines.filter((line) => !/^(?:export [A-Z_]+='[^']*'|unset [A-Z_]+)$/.test(line))).toEqual([])
      expect(lines).toContain('unset WAYLAND_DISPLAY')
      const use = Bun.spawnSync(['sh', '-c', `. ${file}; xdotool getdisplaygeometry; ${where}`])
      const [geometry, place = ''] = use.stdout.toString().split('\n')
      expect(geometry).toBe('1280 800')
      child.kill(signal)
      expect(await child.exited).toBe(0)
      expect(leftOf(placeIn(place))).toEqual([])
    },
    patience,
  )
}

test(
  'the end of a part ends the command, and the part is named (desktop_lost)',
  async () => {
    const { stderr, status } = await desktop(
      '--',
      'sh',
      '-c',
      'kill -KILL $(cat "$XDG_RUNTIME_DIR/../window_manager.pid"); sleep 1000',
    )
    expect(status).toBe(1)
    expect(stderr).toContain('window_manager')
  },
  patience,
)

test.each([
  ['a size that is none', ['--size', 'big'], 1, '--size is "big"'],
  ['a size of nothing', ['--size', '00x00'], 1, '--size is "00x00"'],
  ['an unknown flag', ['--wide'], 64, '--wide'],
  ['a command without the dashes', ['xterm'], 64, 'xterm'],
  ['dashes without a command', ['--'], 64, '"--"'],
] as const)('%s is refused', async (_, words, expected, text) => {
  const { stderr, status } = await desktop(...words)
  expect(status).toBe(expected)
  expect(stderr).toContain(text)
})

test(
  'a desktop ends when its parent is killed, five times',
  async () => {
    for (let round = 0; round < 5; round += 1) expect(await killedParent()).toEqual([])
  },
  patience * 2,
)

test(
  'a desktop that may outlive its parent does',
  async () => {
    const file = join(scratchFolder('desktop'), 'exports')
    const command = backlotCommand('desktop', '--outlive-parent')
      .map((word) => `'${word}'`)
      .join(' ')
    const parent = Bun.spawn(['sh', '-c', `${command} >'${file}' & echo $!; wait`], { stdin: 'ignore', stdout: 'pipe' })
    const { value } = await parent.stdout.getReader().read()
    const pid = Number(new TextDecoder().decode(value))
    await until('the exports', () => existsSync(file) && readFileSync(file, 'utf8').includes('BACKLOT_DESKTOP'))
    parent.kill('SIGKILL')
    await parent.exited
    const use = Bun.spawnSync(['sh', '-c', `. ${file}; xdotool getdisplaygeometry; ${where}`])
    const [geometry, place = ''] = use.stdout.toString().split('\n')
    expect(geometry).toBe('1280 800')
    process.kill(pid, 'SIGTERM')
    await until('the desktop to be gone', () => leftOf(placeIn(place)).length === 0)
  },
  patience,
)
