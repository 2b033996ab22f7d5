import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand } from '../support/backlot.ts'
import { proving } from '../support/proves.ts'
import { scratchFolder } from '../support/scratch.ts'
import { drive, programWords, runtimes } from '../support/sdk/driven.ts'
import { until } from '../support/until.ts'

const isThere = (pid: number) => existsSync(`/proc/${pid}`)
const [executable] = backlotCommand()

/** The servers that descend from a process. */
const serversOf = (pid: number): number[] =>
  Bun.spawnSync(['pgrep', '-P', `${pid}`, '-f', 'computer --listen unix:'])
    .stdout.toString()
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map(Number)

describe.each(runtimes)('%s', (runtime) => {
  const environment = () => ({ ...process.env, XDG_RUNTIME_DIR: scratchFolder('run') })

  test(
    'the process listens on a socket of this user alone, and ends with the connection',
    proving(
      ['sandbox.transport.local', 'sandbox.localhost.attributes', 'sandbox.localhost.methods', 'sandbox.disconnect'],
      async () => {
        const env = environment()
        await using program = await drive(runtime, { kind: 'local', url: '' }, env)
        const names = await program.run((computer) => {
          const parts = ['screen', 'mouse', 'keyboard', 'clipboard', 'shell', 'window', 'terminal', 'files', 'film']
          const methods = ['disconnect', 'screenshot', 'screenshotBase64', 'getEnvironment', 'getDimensions']
          const has = computer as unknown as Record<string, unknown>
          return [
            parts.every((part) => typeof has[part] === 'object'),
            methods.every((name) => typeof has[name] === 'function'),
          ]
        }, undefined)
        expect(names).toEqual([true, true])
        const [server] = serversOf(program.pid) as [number]
        const [folder] = readdirSync(join(env.XDG_RUNTIME_DIR, 'backlot')) as [string]
        expect(statSync(join(env.XDG_RUNTIME_DIR, 'backlot', folder)).mode & 0o777).toBe(0o700)
        const two = await program.run(async (computer) => {
          await computer.disconnect()
          await computer.disconnect()
          return computer.getEnvironment().catch((error) => error.code)
        }, undefined)
        expect(two).toBe('unreachable')
        expect(isThere(server)).toBe(false)
        expect(readdirSync(join(env.XDG_RUNTIME_DIR, 'backlot'))).toEqual([])
        // It is there again once it is asked for.
        const again = await program.run(async (computer) => {
          await computer.transport.connect()
          return computer.getEnvironment()
        }, undefined)
        expect(again).toBe('linux')
      },
    ),
  )

  test(
    'a scope closes the connection, and a program that leaves it open ends nevertheless',
    proving(['sandbox.localhost.connect'], async () => {
      const env = environment()
      await using program = await drive(runtime, { kind: 'http', url: 'http://127.0.0.1:1' }, env)
      const pid = await program.run(async (_, __, { Localhost }) => {
        const here = await Localhost.connect()
        const { stdout } = await here.shell.run('echo $PPID')
        await here[Symbol.asyncDispose]()
        return Number(stdout)
      }, undefined)
      expect(isThere(pid)).toBe(false)
      const left = await program.run(async (_, __, { Localhost }, kept) => {
        kept.here = await Localhost.connect()
        return Number((await kept.here.shell.run('echo $PPID')).stdout)
      }, undefined)
      // The input of the program ends, and with it the program, which disconnects from nothing but its own computer.
      await program[Symbol.asyncDispose]()
      await until('the server to end', () => !isThere(left))
      await until('its folder to go', () => readdirSync(join(env.XDG_RUNTIME_DIR, 'backlot')).length === 0)
    }),
  )

  test('the process ends when the program is killed, with what it started', async () => {
    const env = environment()
    const child = Bun.spawn([...(await programWords(runtime)), JSON.stringify({ kind: 'local', url: '' })], {
      env,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const code = `async ({ shell, terminal }) => [(await terminal.create()).pid, (await shell.start('sleep 1000')).pid]`
    child.stdin.write(`${JSON.stringify({ id: 1, code })}\n`)
    child.stdin.flush()
    const said = new TextDecoder().decode((await child.stdout.getReader().read()).value)
    const pids = [...(JSON.parse(said) as { result: number[] }).result, ...serversOf(child.pid)]
    expect(pids).toHaveLength(3)
    expect(pids.every(isThere)).toBe(true)
    child.kill('SIGKILL')
    await until('all to end', () => pids.every((pid) => !isThere(pid)))
  })

  test('a process that died is started again by the next call', async () => {
    await using program = await drive(runtime, { kind: 'local', url: '' }, environment())
    await program.run((computer) => computer.getEnvironment(), undefined)
    const [first] = serversOf(program.pid) as [number]
    process.kill(first, 'SIGKILL')
    await until('its end', () => !isThere(first))
    const dimensions = await program.run(
      async (computer) => (await computer.shell.run('echo again').catch(() => computer.shell.run('echo again'))).stdout,
      undefined,
    )
    expect(dimensions).toBe('again\n')
    expect(serversOf(program.pid)).not.toEqual([first])
  })

  test('the executable is found by its variable, the package, or PATH, in this order', async () => {
    const folder = scratchFolder('found')
    const marked = (name: string) => {
      const path = join(folder, name, 'backlot')
      mkdirSync(join(folder, name), { recursive: true })
      writeFileSync(path, `#!/bin/sh\necho ${name} > ${folder}/started\nexec ${executable} "$@"\n`)
      chmodSync(path, 0o755)
      return path
    }
    const [named, packaged, onPath] = ['named', 'packaged', 'path'].map(marked) as [string, string, string]
    const installed = join(folder, 'node_modules/backlot')
    const install = (line: string) => {
      mkdirSync(installed, { recursive: true })
      const exports = { './executable': './executable.js' }
      writeFileSync(join(installed, 'package.json'), JSON.stringify({ name: 'backlot', type: 'module', exports }))
      writeFileSync(join(installed, 'executable.js'), `export const executablePath = () => { ${line} }`)
    }
    // A program of the folder, so that its packages are those of the folder.
    const words = await programWords(runtime)
    const program = join(folder, 'program.mjs')
    writeFileSync(program, `process.argv[1] = ${JSON.stringify(program)}; await import(${JSON.stringify(words[1])})`)
    const started = async (env: Record<string, string>) => {
      const { BACKLOT_BIN: _, ...others }: Record<string, string | undefined> = environment()
      const child = Bun.spawn([words[0], program, JSON.stringify({ kind: 'local', url: '' })], {
        env: { ...others, ...env },
        stdin: 'pipe',
        stdout: 'ignore',
        stderr: 'pipe',
      })
      child.stdin.end()
      const [said] = [await child.stderr.text(), await child.exited]
      const file = Bun.file(join(folder, 'started'))
      const which = (await file.exists()) ? (await file.text()).trim() : said
      await Bun.$`rm -f ${folder}/started`
      return which
    }
    const PATH = `${folder}/path:/usr/bin:/bin`
    install(`return ${JSON.stringify(packaged)}`)
    expect(await started({ PATH, BACKLOT_BIN: named })).toBe('named')
    expect(await started({ PATH })).toBe('packaged')
    expect(await started({ PATH, BACKLOT_BIN: join(folder, 'no') })).toContain('is no program')
    install('throw new Error("not for this platform")')
    expect(await started({ PATH })).toBe('path')
    const nowhere = await started({ PATH: '/usr/bin:/bin' })
    expect(nowhere).toContain('executable_not_found')
    expect(nowhere).toContain('not for this platform')
    await Bun.$`rm -r ${installed}`
    expect(await started({ PATH: '/usr/bin:/bin' })).toContain('npm install backlot')
    expect(onPath).toContain(folder)
  })
})
