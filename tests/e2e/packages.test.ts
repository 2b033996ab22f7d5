import { beforeAll, expect, test } from 'bun:test'
import { chmod, cp, mkdir, readdir, readlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failures } from '@backlot/contract/failure'
import { version } from '@backlot/contract/version'
import { executablePackage } from '../../ts/pack/platforms.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connectTo } from '../support/mcp-client.ts'
import { nodeFolder, npmCommand } from '../support/npm-packages.ts'
import { platform, publishedPackages } from '../support/packages.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

const packages = publishedPackages([executablePackage(platform), 'backlot', '@backlot/sdk'])
const on = privateDesktop()

/** Projects with `backlot`, and the folders with a runtime and nothing else. */
let byNpm: string
let byBun: string
let node20: string
let node26: string
const bun = dirname(process.execPath)

beforeAll(async () => {
  byNpm = await packages().project('npm', ['backlot', '@backlot/sdk'])
  byBun = await packages().project('bun', ['backlot', '@backlot/sdk'])
  node20 = await nodeFolder(20)
  node26 = await nodeFolder(26)
  on().start(['xterm', '-T', 'seen from a package'])
})

const launcher = 'node_modules/backlot/bin/backlot.js'

/** The launcher under each runtime. */
const ways = (): [name: string, command: [string, string]][] => [
  ['Node 20', [join(node20, 'node'), join(byNpm, launcher)]],
  ['Node 26', [join(node26, 'node'), join(byNpm, launcher)]],
  ['Bun', [join(bun, 'bun'), join(byBun, launcher)]],
]

/** The runtimes, each with the project that has the packages for it. */
const sdkWays = () =>
  ways().map(([name, command], i): [string, [string, string], string] => [name, command, i === 2 ? byBun : byNpm])

const titles = (stdout: string): string[] =>
  (JSON.parse(stdout) as { windows: { title: string }[] }).windows.map(({ title }) => title)

const run = async (command: readonly string[], cwd: string, env: Record<string, string | undefined> = {}) => {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...on().env, ...packages().registry.env, NPM_CONFIG_TOKEN: undefined, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { stdout, stderr, status: await child.exited }
}

test('`npx backlot` calls a tool under Node, where there is no Bun', async () => {
  const PATH = `${node20}:/usr/bin:/bin`
  expect(Bun.which('bun', { PATH })).toBeNull()
  const npx = [...(await npmCommand(20, 'npx')), '--no-install', 'backlot']
  await until('the window', async () => {
    const finished = await run([...npx, 'list_windows'], byNpm, { PATH })
    expect(finished).toMatchObject({ stderr: expect.stringMatching(/^Found \d+ window/), status: 0 })
    return titles(finished.stdout).includes('seen from a package')
  })
  const other = await run([...(await npmCommand(20, 'npx')), '--no-install', 'backlot-driver', '--version'], byNpm, {
    PATH,
  })
  expect(other).toEqual({ stdout: `backlot-driver ${version}\n`, stderr: '', status: 0 })
})

test('`bun x backlot` calls a tool under Bun, where there is no Node', async () => {
  expect(Bun.which('node', { PATH: bun })).toBeNull()
  const listed = await run(['bun', 'x', '--no-install', 'backlot', 'list_windows'], byBun, { PATH: bun })
  expect(listed).toMatchObject({ stderr: expect.stringMatching(/^Found \d+ window/), status: 0 })
  expect(titles(listed.stdout)).toContain('seen from a package')
  const other = await run(['bun', 'x', '--no-install', 'backlot-driver', '--version'], byBun, { PATH: bun })
  expect(other).toEqual({ stdout: `backlot-driver ${version}\n`, stderr: '', status: 0 })
})

test('the launcher leaves input, output and exit status to the executable', async () => {
  for (const [name, command] of ways()) {
    const wrong = await run([...command, '--nonsense'], byNpm)
    expect({ name, ...wrong }).toMatchObject({ name, stdout: '', status: failures.usage.exit })
    expect(wrong.stderr).toContain('"--nonsense" is not known')
    await using mcp = await connectTo(on(), [...command, 'mcp'])
    expect(mcp.client.getServerVersion()).toMatchObject({ name: 'backlot', version })
    expect(await mcp.ask<object>('get_screen_size')).toMatchObject({ width: 1280, height: 800 })
  }
})

/** The process that is the executable: that of the launcher, or a child of it. */
const executableOf = (pid: number): Promise<number> =>
  until('the executable', async () => {
    const children = await Bun.file(`/proc/${pid}/task/${pid}/children`).text()
    for (const each of [pid, ...children.split(' ').filter(Boolean).map(Number)]) {
      const path = await readlink(`/proc/${each}/exe`).catch(() => '')
      if (path.endsWith(join(executablePackage(platform), 'bin/backlot'))) return each
    }
    return null
  })

test('signals reach the executable, and how it ends is how the launcher ends', async () => {
  for (const [name, command] of ways()) {
    const serve = () =>
      Bun.spawn([...command, 'serve', '--port', '0'], {
        env: on().env,
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'ignore',
      })
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const child = serve()
      for await (const _ of child.stdout) break
      const pid = await executableOf(child.pid)
      child.kill(signal)
      expect({ name, signal, status: await child.exited }).toEqual({ name, signal, status: 0 })
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    }
    const killed = serve()
    for await (const _ of killed.stdout) break
    process.kill(await executableOf(killed.pid), 'SIGKILL')
    await killed.exited
    expect({ name, signal: killed.signalCode }).toEqual({ name, signal: 'SIGKILL' })
  }
})

test('an interrupt that is typed at a terminal reaches the executable once', async () => {
  const project = await packages().folder('typed')
  const folder = join(project, 'node_modules', executablePackage(platform))
  await cp(join(byNpm, 'node_modules/backlot'), join(project, 'node_modules/backlot'), { recursive: true })
  await mkdir(join(folder, 'bin'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{}')
  // In the place of the executable, a program that counts.
  const counts = [
    '#!/usr/bin/env python3',
    'import os, signal, sys',
    'seen = []',
    // A handler that runs in the middle of print() may not print.
    'say = lambda text: os.write(1, text.encode())',
    'signal.signal(signal.SIGINT, lambda *_: (seen.append(1), say(f"got {len(seen)}\\n")))',
    'say("ready\\n")',
    'sys.stdin.readline()',
    'print("in all", len(seen))',
  ]
  await writeFile(join(folder, 'bin/backlot'), counts.join('\n'), { mode: 0o755 })
  for (const [name, [runtime]] of ways()) {
    let shown = ''
    const decoder = new TextDecoder()
    const child = Bun.spawn([runtime, join(project, launcher)], {
      terminal: {
        data: (_, bytes) => {
          shown += decoder.decode(bytes)
        },
      },
      env: on().env,
    })
    await until('the program', () => shown.includes('ready'))
    child.terminal?.write('\x03')
    await until('the interrupt', () => shown.includes('got 1'))
    child.terminal?.write('\n')
    expect({ name, status: await child.exited }).toEqual({ name, status: 0 })
    await until('what it counted', () => shown.includes('in all'))
    expect({ name, shown }).toEqual({ name, shown: expect.stringContaining('in all 1') })
    child.terminal?.close()
  }
})

test('a launcher without an executable says what is missing and how to get it', async () => {
  const without = await packages().project('npm', ['backlot'], '--omit=optional')
  expect(await readdir(join(without, 'node_modules'))).not.toContain('@backlot')
  const { name } = platform
  for (const [, [runtime]] of ways()) {
    const absent = await run([runtime, join(without, launcher), 'list_windows'], without)
    expect(absent).toEqual({
      stdout: '',
      stderr: expect.stringContaining(`npm install @backlot/cli-${name}@${version}`),
      status: failures.unsupported_platform.exit,
    })
  }

  // On a platform that has none.
  const elsewhere = join(without, 'elsewhere.cjs')
  await writeFile(elsewhere, "Object.defineProperty(process, 'platform', { value: 'sunos' })")
  const unknown = await run([join(node20, 'node'), '-r', elsewhere, join(without, launcher)], without)
  expect(unknown.stderr).toContain(`no executable for "sunos-${process.arch}", only for: linux-x64`)
  expect([unknown.stdout, unknown.status]).toEqual(['', failures.unsupported_platform.exit])

  // Where it may not be executed.
  const folder = join(without, 'node_modules', executablePackage(platform))
  await mkdir(join(folder, 'bin'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{}')
  await writeFile(join(folder, 'bin/backlot'), '')
  await chmod(join(folder, 'bin/backlot'), 0o644)
  const refused = await run([join(node26, 'node'), join(without, launcher)], without)
  expect(refused.stderr).toContain('cannot be executed')
  expect([refused.stdout, refused.status]).toEqual(['', failures.unsupported_platform.exit])
})

test('a program finds the path of the executable', async () => {
  const program = "import { executablePath } from 'backlot/executable'; console.log(executablePath())"
  for (const [, [runtime], project] of sdkWays()) {
    const found = await run([runtime, '--input-type=module', '-e', program], project)
    expect(found.stderr).toBe('')
    expect(found.stdout.trim()).toBe(join(project, 'node_modules', executablePackage(platform), 'bin/backlot'))
  }
})

test(
  'a program with the SDK operates this machine, through the executable of the package beside it',
  proving(['sandbox.localhost'], async () => {
    const program = `
    import { Localhost } from '@backlot/sdk'
    const here = await Localhost.connect()
    const { stdout } = await here.shell.run('ps -o args= -p $PPID')
    const { width, height } = await here.getDimensions()
    await here.disconnect()
    console.log(JSON.stringify({ server: stdout, width, height }))`
    for (const [name, [runtime], project] of sdkWays()) {
      const file = join(project, 'here.mjs')
      await writeFile(file, program)
      const { stdout, stderr, status } = await run([runtime, file], project, {
        PATH: '/usr/bin:/bin',
        BACKLOT_BIN: undefined,
      })
      expect({ name, stderr, status }).toEqual({ name, stderr: '', status: 0 })
      const { server, ...size } = JSON.parse(stdout)
      expect({ name, ...size }).toEqual({ name, width: 1280, height: 800 })
      expect(server).toStartWith(join(project, 'node_modules', executablePackage(platform), 'bin/backlot'))
    }
  }),
)
