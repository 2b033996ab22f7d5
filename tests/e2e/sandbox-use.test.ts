/** `backlot sandbox` on sandboxes in namespaces: made, used and removed by commands alone. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { scratchFolder } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const patience = 90_000
const png = [0x89, 0x50, 0x4e, 0x47]

/** A home with one sandbox, and the commands on it. */
const withSandbox = async (name: string, ...flags: string[]) => {
  const { folder, atEnd } = sandboxHome()
  const env = { BACKLOT_HOME: folder }
  const on = (verb: string, ...args: string[]) => runBacklot(['sandbox', verb, ...args], env)
  atEnd(async () => void (await on('rm', name)))
  const created = await on('create', name, '--local', '--network', 'loopback', ...flags)
  expect(created).toMatchObject({ stderr: '', status: 0 })
  return { env, on, created: JSON.parse(created.stdout) }
}

/** A home with a sandbox that no file of the SDK knows, and the commands on it. */
const withStarted = async (name: string) => {
  const { folder, atEnd } = sandboxHome()
  const env = { BACKLOT_HOME: folder }
  const local = (...args: string[]) => runBacklot(['local', ...args], env)
  atEnd(async () => void (await local('delete', name)))
  expect((await local('start', '--name', name, '--network', 'loopback')).status).toBe(0)
  return { env, local, on: (verb: string, ...args: string[]) => runBacklot(['sandbox', verb, ...args], env) }
}

test(
  'what `backlot local start` made is reached, kept and removed too',
  async () => {
    const { local, on } = await withStarted('started')
    const file = join(scratchFolder('pictures'), 'screen.png')
    expect(await on('screenshot', 'started', file, '--local')).toMatchObject({ stderr: `Written to ${file}\n` })
    expect([...readFileSync(file).subarray(0, 4)]).toEqual(png)
    expect(JSON.parse((await on('connect', 'started')).stdout)).toMatchObject({ width: 1280, height: 800 })
    expect((await fetch(JSON.parse((await on('view', 'started')).stdout).url)).status).toBe(200)
    expect((await on('screenshot', 'started', file, '--runtime', 'container')).status).toBe(1)
    const done = { stdout: '', stderr: '', status: 0 }
    expect(await on('suspend', 'started')).toEqual(done)
    expect((await on('screenshot', 'started', file)).stderr).toContain('backlot local resume started')
    expect(JSON.parse((await on('info', 'started')).stdout)).toMatchObject({ name: 'started', status: 'suspended' })
    expect(await on('resume', 'started')).toEqual(done)
    expect(await on('restart', 'started')).toEqual(done)
    expect((await on('logs', 'started')).stdout).toContain('POST /cmd 200')
    expect((await on('rm', 'started', '--runtime', 'container')).status).toBe(1)
    expect(await on('rm', 'started')).toEqual(done)
    expect(JSON.parse((await local('list', '--json')).stdout)).toEqual({ sandboxes: [] })
    const gone = await on('info', 'started')
    expect([gone.status, gone.stdout]).toEqual([1, ''])
    expect(gone.stderr).toContain('`backlot sandbox list --local` names those there are')
  },
  patience,
)

test(
  'a sandbox is made, listed, looked at, suspended, resumed and removed',
  async () => {
    const { env, on, created } = await withSandbox('made', '--label', 'kind=test', '--ttl-ms', '3600000')
    expect(created).toMatchObject({ name: 'made', status: 'running', source: 'local', labels: { kind: 'test' } })
    expect(Date.parse(created.expiresAt)).toBeGreaterThan(Date.now())
    expect(JSON.parse((await on('ls')).stdout)).toMatchObject([{ name: 'made', status: 'running' }])

    const { mcp, ...reached } = JSON.parse((await on('connect', 'made')).stdout)
    expect(reached).toEqual({ name: 'made', source: 'local', width: 1280, height: 800 })
    const { status } = await fetch(mcp.url, { method: 'POST', headers: { ...mcp.headers }, body: 'no JSON' })
    expect(status).not.toBe(401)
    expect((await fetch(mcp.url, { method: 'POST', body: 'no JSON' })).status).toBe(401)

    const { url } = JSON.parse((await on('view', 'made')).stdout)
    expect((await fetch(url)).headers.get('content-type')).toStartWith('text/html')

    const folder = scratchFolder('pictures')
    const file = join(folder, 'screen.png')
    expect(await on('screenshot', 'made', file)).toEqual({ stdout: '', stderr: `Written to ${file}\n`, status: 0 })
    expect([...readFileSync(file).subarray(0, 4)]).toEqual(png)
    expect(readdirSync(folder)).toEqual(['screen.png'])
    const piped = Bun.spawn(backlotCommand('sandbox', 'screenshot', 'made'), { env: { ...process.env, ...env } })
    expect([...new Uint8Array(await new Response(piped.stdout).arrayBuffer()).subarray(0, 4)]).toEqual(png)

    expect((await on('logs', 'made')).stdout).toContain('POST /cmd 200')
    expect(await on('suspend', 'made')).toEqual({ stdout: '', stderr: '', status: 0 })
    expect(JSON.parse((await on('info', 'made')).stdout).status).toBe('suspended')
    expect(await on('shell', 'made', '--', 'true')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^error: .*`backlot sandbox resume made`/s),
    })
    expect((await on('resume', 'made')).status).toBe(0)
    expect((await on('rm', 'made')).status).toBe(0)
    expect(JSON.parse((await on('ls')).stdout)).toEqual([])
  },
  patience,
)

test(
  'a command in a sandbox has its input, output, arguments, signals and exit status',
  async () => {
    const { env, on } = await withSandbox('runs')
    const run = (...words: string[]) => on('shell', 'runs', '--', ...words)
    expect(await run('whoami; echo wrong >&2; exit 7')).toEqual({ stdout: 'user\n', stderr: 'wrong\n', status: 7 })
    const hostile = ["it's", '$HOME "quoted"', '', '--help', 'a\nb']
    expect((await run('printf', '<%s>', ...hostile)).stdout).toBe(hostile.map((word) => `<${word}>`).join(''))

    const words = backlotCommand('sandbox', 'shell', 'runs', '--', 'tr', 'a-z', 'A-Z')
    const input = new Blob(['from the input'])
    const fed = Bun.spawn(words, { env: { ...process.env, ...env }, stdin: input, stdout: 'pipe' })
    expect([await new Response(fed.stdout).text(), await fed.exited]).toEqual(['FROM THE INPUT', 0])

    const line = 'trap "echo caught; exit 9" TERM; echo ready; while :; do sleep 0.1; done'
    const long = Bun.spawn(backlotCommand('sandbox', 'shell', 'runs', '--', line), {
      env: { ...process.env, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
    })
    let shown = ''
    const decoder = new TextDecoder()
    for await (const part of long.stdout) {
      shown += decoder.decode(part)
      if (shown === 'ready\n') long.kill('SIGTERM')
    }
    expect([shown, await long.exited]).toEqual(['ready\ncaught\n', 9])
  },
  patience,
)

test(
  'a shell on a terminal has its size, its keys and its end, and gives the terminal back as it was',
  async () => {
    const { env, on } = await withSandbox('talks')
    const outside = await on('shell', 'talks')
    expect([outside.status, outside.stderr.includes('needs a terminal')]).toEqual([64, true])

    let shown = ''
    const decoder = new TextDecoder()
    // A shell here calls it, so that what is left of the terminal can be asked afterwards.
    const call = `${backlotCommand('sandbox', 'shell', 'talks').join(' ')}; echo "status $?"; stty -a | grep -oE '.(icanon|opost)'`
    const child = Bun.spawn(['sh', '-c', call], {
      env: { ...process.env, ...env, TERM: 'xterm' },
      terminal: {
        cols: 101,
        rows: 33,
        data(_, part) {
          shown += decoder.decode(part, { stream: true })
        },
      },
    })
    const sees = (what: string) =>
      until(what, () => shown.includes(what), 30_000).catch(({ message }: Error) => {
        throw new Error(`${message}: ${JSON.stringify(shown)}`)
      })
    await until('a prompt', () => shown.includes('$ '), 30_000)
    child.terminal?.write('stty size; echo "on $TERM"\n')
    await sees('33 101\r\n')
    await sees('on xterm\r\n')
    child.terminal?.resize(77, 22)
    await until('the new size', () => {
      child.terminal?.write('stty size\n')
      return shown.includes('22 77\r\n')
    })
    child.terminal?.write('echo begun; sleep 1000; echo "slept $?"\n')
    await sees('begun\r\n')
    const before = shown.length
    child.terminal?.write('\x03')
    // A shell that is interrupted drops what was typed ahead.
    await until('the next prompt', () => shown.slice(before).includes('$ '), 30_000)
    child.terminal?.write('echo "Grüße $((40 + 2))"\n')
    await sees('Grüße 42\r\n')
    child.terminal?.write('exit 5\n')
    await sees('status 5\r\n')
    await child.exited
    await until('the mode of the terminal', () => /[ -]icanon/.test(shown))
    expect(shown).not.toMatch(/-(icanon|opost)/)
    child.terminal?.close()
  },
  patience,
)

test('flags and words that a verb does not take are refused', async () => {
  const { folder } = sandboxHome()
  const wrong: [args: string[], status: number, said: string][] = [
    [['list', '--follow'], 64, 'takes no --follow'],
    [['info', 'x', '--', 'ls'], 64, 'takes none after --'],
    [['shell', 'x', '--'], 64, 'lacks a command'],
    [['create', 'x', 'y'], 64, 'VERB NAME'],
    [['create', 'x', '--cpu', 'many'], 1, '--cpu is "many"'],
    [['create', 'x', '--label', 'none'], 1, '--label is "none"'],
    [['create', 'x', '--mount', 'here'], 1, '--mount is "here"'],
  ]
  for (const [args, status, said] of wrong) {
    const refused = await runBacklot(['sandbox', ...args], { BACKLOT_HOME: folder })
    expect({ args, ...refused }).toEqual({ args, status, stdout: '', stderr: expect.stringContaining(said) })
  }
})
