import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { proving } from '../support/proves.ts'
import { runtimes } from '../support/sdk/driven.ts'
import { sdkSetup, ways } from '../support/sdk/setup.ts'
import { until } from '../support/until.ts'

const setup = sdkSetup()

// One that ended and that nobody has waited for yet has no program.
const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}/exe`)

describe.each(ways)('%s, %s', (runtime, kind) => {
  const driven = () => setup().program(runtime, kind)
  const path = (name: string) => setup().desktop.path(`${name}-${runtime}-${kind}`)

  test(
    'a command gives its output and its code, whatever it is',
    proving(['sandbox.shell.run'], async () => {
      const program = await driven()
      const folder = path('folder')
      await program.run(({ files }, made) => files.makeDir(made), folder)
      const given = await program.run(
        ({ shell }, cwd) =>
          shell.run('pwd; echo "$GREETING" >&2; cat; exit 3', { cwd, env: { GREETING: 'Grüße' }, input: 'in' }),
        folder,
      )
      expect(given).toEqual({ stdout: `${folder}\nin`, stderr: 'Grüße\n', exitCode: 3 })
      const byteInput = await program.run(async ({ shell }) => {
        const bytes = new Uint8Array(600_000).fill(97)
        const stream = new Blob([bytes]).stream()
        return [
          (await shell.run('wc -c', { input: bytes })).stdout,
          (await shell.run('wc -c', { input: stream })).stdout,
        ]
      }, undefined)
      expect(byteInput.map((each) => each.trim())).toEqual(['600000', '600000'])
      const killed = await program.run(({ shell }) => shell.run('kill -9 $$'), undefined)
      expect(killed).toEqual({ stdout: '', stderr: '', exitCode: 137 })
      expect(await program.fails(({ shell }) => shell.run('echo no >&2; exit 4', { check: true }))).toMatchObject({
        name: 'CommandError',
        code: 'command_failed',
        data: { exitCode: 4 },
      })
      expect(await program.fails(({ shell }) => shell.run('pwd', { cwd: '/no/such' }))).toMatchObject({
        code: 'invalid_argument',
      })
    }),
  )

  test('a command that takes too long, or is cancelled, is ended with all it started', async () => {
    const program = await driven()
    const [late, cancelled] = [path('late'), path('cancelled')]
    const script = (file: string) => `sleep 1000 & echo $! > ${file}; echo begun; wait`
    const met = await program.fails(({ shell }, command) => shell.run(command, { timeoutMs: 1_500 }), script(late))
    expect(met).toMatchObject({
      name: 'TimeoutError',
      code: 'command_timeout',
      output: { stdout: 'begun\n', stderr: '' },
    })
    await until('its end', () => !isRunning(Number(readFileSync(late, 'utf8'))))
    const stopped = program.fails(
      async ({ shell, files }, [command, file]) => {
        const stop = new AbortController()
        const running = shell.run(command, { signal: stop.signal })
        while (!(await files.exists(file)) || (await files.readText(file)) === '') {}
        stop.abort(new Error('changed my mind'))
        await running
      },
      [script(cancelled), cancelled] as const,
    )
    expect(await stopped).toMatchObject({ isOurs: false, message: 'changed my mind' })
    await until('its end', () => !isRunning(Number(readFileSync(cancelled, 'utf8'))))
    const before = await program.fails(({ shell }) => {
      const signal = AbortSignal.abort(new Error('before it began'))
      return shell.run(`touch /tmp/never`, { signal })
    })
    expect(before.message).toBe('before it began')
  })

  test('output comes while the command runs, by pieces and by lines, and its end is told', async () => {
    const program = await driven()
    const gate = path('gate')
    const lines = await program.run(async ({ shell, files }, file) => {
      const command = await shell.start(
        `echo one; echo two >&2; until [ -e ${file} ]; do sleep 0.01; done; printf three`,
      )
      const seen: string[] = []
      for await (const line of command.lines()) {
        seen.push(line)
        // The command goes on only once its first lines have been read.
        if (seen.length === 2) await files.write(file, '')
      }
      const pieces: string[] = []
      for await (const { stream, text } of command) pieces.push(`${stream}: ${text}`)
      return { seen, pieces, end: await command.wait() }
    }, gate)
    expect(lines.seen.toSorted()).toEqual(['one', 'three', 'two'])
    expect(lines.pieces.join('|')).toContain('stderr: two\n')
    expect(lines.end).toEqual({ stdout: 'one\nthree', stderr: 'two\n', exitCode: 0 })
  })

  test('a running command is signalled, and killed with all it started when it is disposed of', async () => {
    const program = await driven()
    const trapped = await program.run(async ({ shell }) => {
      const command = await shell.start('trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.05; done')
      for await (const line of command.lines()) if (line === 'ready') await command.kill('SIGINT')
      const end = await command.wait()
      await command.kill()
      return end
    }, undefined)
    expect(trapped).toMatchObject({ stdout: 'ready\ncaught\n', exitCode: 5 })
    const file = path('child')
    const pids = await program.run(async ({ shell, files }, where) => {
      const command = await shell.start(`setsid sleep 1000 & echo $! > ${where}; echo on; wait`)
      for await (const _ of command.lines()) break
      const child = Number(await files.readText(where))
      await command[Symbol.asyncDispose]()
      await command[Symbol.asyncDispose]()
      return [command.pid, child]
    }, file)
    await until('both to end', () => pids.every((pid) => !isRunning(pid)))
    const signalled = () =>
      program.run(
        ({ transport }, pid) =>
          transport.send('command_signal', { pid }).then(
            () => 'done',
            (error) => error.data.serverCode,
          ),
        pids[0] ?? 0,
      )
    await until('the command to be forgotten', async () => (await signalled()) === 'command_not_found')
  })

  test('a terminal is talked to, resized, come back to and closed', async () => {
    const program = await driven()
    const first = await program.run(async ({ terminal }, _, __, kept) => {
      const opened = await terminal.create({ cols: 100, rows: 30, env: { PS1: '> ', WORD: 'said' } })
      kept.terminal = opened
      await opened.sendInput('echo $WORD-so; stty size\n')
      const text = await opened.waitFor(/\d+ \d+\r/)
      await opened.resize(90, 25)
      await opened.sendInput('stty size; tty\n')
      return { pid: opened.pid, size: [opened.cols, opened.rows], text, next: await opened.waitFor('/dev/pts/') }
    }, undefined)
    expect(first).toMatchObject({ size: [90, 25], text: expect.stringContaining('said-so\r\n30 100') })
    expect(first.next).toContain('25 90')
    expect(readFileSync(`/proc/${first.pid}/cmdline`, 'utf8')).toContain('bash')
    const again = await program.run(async ({ terminal }, pid) => {
      const back = await terminal.attach(pid)
      const text = await back.waitFor('said-so')
      await terminal.sendInput(pid, 'exit 7\n')
      let rest = ''
      for await (const piece of back) rest += piece
      return { size: [back.cols, back.rows], text, rest, code: await terminal.close(pid) }
    }, first.pid)
    expect(again).toMatchObject({ size: [90, 25], code: 7 })
    expect(again.rest).toContain('exit 7')
    const met = await program.fails((_, __, ___, kept) => kept.terminal.waitFor('never'))
    expect(met).toMatchObject({ code: 'pty_not_found', data: { exitCode: 7 } })
  })

  test(
    'a terminal that is closed while it runs is killed with all in it',
    proving(
      [
        'sandbox.terminal.create',
        'sandbox.terminal.send-input',
        'sandbox.terminal.resize',
        'sandbox.terminal.close',
        'sandbox.limits.terminal-size',
      ],
      async () => {
        const program = await driven()
        const given = await program.run(async ({ terminal }) => {
          const opened = await terminal.create()
          const other = await terminal.create('sh', 40, 10)
          await terminal.resize(other.pid, 41, 11)
          await other.sendInput('stty size; echo $0\n')
          const said = await other.waitFor(/11 41\r\n\S+\r\n/)
          const late = await other.waitFor('never', { timeoutMs: 200 }).catch((error) => error.code)
          const code = await terminal.close(opened.pid)
          await other[Symbol.asyncDispose]()
          await other[Symbol.asyncDispose]()
          return { size: [opened.cols, opened.rows], pids: [opened.pid, other.pid], said, late, code }
        }, undefined)
        expect(given).toMatchObject({ size: [80, 24], late: 'timeout', code: null })
        expect(given.said).toContain('sh')
        await until('both to end', () => given.pids.every((pid) => !isRunning(pid)))
        for (const fails of [
          await program.fails(({ terminal }) => terminal.attach(999_999)),
          await program.fails(({ terminal }) => terminal.sendInput(999_999, 'x')),
          await program.fails(({ terminal }) => terminal.resize(999_999, 80, 24)),
          await program.fails(({ terminal }) => terminal.close(999_999)),
        ]) {
          expect(fails).toMatchObject({ name: 'NotFoundError', code: 'pty_not_found' })
        }
      },
    ),
  )
})

describe.each(runtimes)('%s', (runtime) => {
  test('output that nobody takes halts the command, and nothing of it is lost', async () => {
    const program = await setup().program(runtime, 'http')
    const count = setup().desktop.path(`count-${runtime}`)
    const told = await program.run(async ({ shell, files }, file) => {
      const command = await shell.start(`for i in 1 2 3 4 5 6; do yes | head -c 3000000; echo $i >> ${file}; done`)
      let length = 0
      let early = ''
      for await (const { text } of command) {
        // One that is halted writes no more: twice the same is seen while nothing is taken.
        if (length === 0) {
          for (let last = 'none'; early === '' || early !== last; ) {
            last = early
            await new Promise((settle) => setTimeout(settle, 100))
            early = (await files.exists(file)) ? await files.readText(file) : 'nothing'
          }
        }
        length += text.length
      }
      return { length, early }
    }, count)
    expect(told.length).toBe(18_000_000)
    expect(told.early).not.toContain('6')
  })
})
