import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'

let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
})

afterAll(() => host[Symbol.asyncDispose]())

const readIfThere = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

/** Somebody's own service may run on this machine. */
const isTaken = await fetch('http://127.0.0.1:7777').then(
  () => true,
  () => false,
)

/** Resident bytes of the areas in which a process could change what its executable holds (proc(5), smaps). */
const residentData = (pid: number, program: string): number => {
  let [isData, kilobytes] = [false, 0]
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isData = line.includes(' rw-p ') && line.endsWith(` ${program}`)
    else if (isData && line.startsWith('Rss:')) kilobytes += Number(line.split(/\s+/)[1])
  }
  return kilobytes * 1024
}

describe('serve', () => {
  test('ends with status 0 when it is asked to, having said its address alone on standard output', async () => {
    await using other = await startVmHost()
    expect(other.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await other.end()).toBe(0)
    await expect(fetch(other.url)).rejects.toThrow()
  })

  // From the sources nothing is read out of an executable. A copy of its own: the kernel keeps what other processes use.
  test.skipIf(!process.env.BACKLOT_BIN)('gives back the memory out of which its native core was loaded', async () => {
    const home = await mkdtemp(join(tmpdir(), 'backlot-memory-'))
    const program = join(home, 'backlot')
    await copyFile(process.env.BACKLOT_BIN as string, program)
    await chmod(program, 0o755)
    const env = { ...process.env, BACKLOT_HOME: home }
    const child = Bun.spawn([program, 'serve', '--port', '0'], { env, stdout: 'pipe', stderr: 'ignore' })
    try {
      const { value } = await child.stdout.getReader().read()
      const vm = { name: 'one', os: 'linux', cpu: 1, memory: '64MB', diskSize: '1GB', display: '800x600' }
      const body = JSON.stringify(vm)
      const url = `${new TextDecoder().decode(value).trim()}/svc/vms`
      expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
      await until('the memory to be given back', () => residentData(child.pid, program) < 8 * 2 ** 20)
      // What is read there again is as it was.
      expect((await fetch(url, { method: 'POST', body: body.replace('one', 'two') })).status).toBe(200)
    } finally {
      child.kill()
      await child.exited
      await rm(home, { recursive: true, force: true })
    }
  })

  test('says which port is taken, and refuses what it does not take', async () => {
    for (const [args, status, text] of [
      [['--port', String(host.port)], 1, `"127.0.0.1:${host.port}"`],
      [['--port', '70000'], 1, '"70000"'],
      [['--port', 'many'], 1, '"many"'],
      [['--host', '0.0.0.0', '--port', '0'], 1, 'BACKLOT_HOST_TOKEN'],
      [['--token-file', '/nothing'], 1, '/nothing'],
      [['--key-file', '/nothing'], 1, '/nothing'],
      [['--listen', '/run/socket'], 1, 'it takes unix:PATH'],
      [['--listen', 'unix:/run/socket', '--host', '0.0.0.0'], 1, 'exclude each other'],
      [['--listen', 'unix:/run/socket', '--port', '99'], 1, 'exclude each other'],
      [['--grace-seconds', 'many'], 1, '"many"'],
      [['--grace-seconds', '1000'], 1, 'from 0 to 240'],
      [['--nothing'], 64, '--nothing'],
    ] as const) {
      const call = await runBacklot(['serve', ...args], { BACKLOT_HOME: host.home })
      expect([args, call.status, call.stdout]).toEqual([args, status, ''])
      expect(call.stderr).toContain(text)
    }
    const words = await runBacklot(['serve', '--port', '0'], {
      BACKLOT_HOME: host.home,
      BACKLOT_HOST_TOKEN: 'two words',
    })
    expect([words.status, words.stdout]).toEqual([1, ''])
    expect(words.stderr).toContain('BACKLOT_HOST_TOKEN holds more than one word')
    const misplaced = await runBacklot(['serve', '--port', '0'], { BACKLOT_HOME: 'not/absolute' })
    expect([misplaced.status, misplaced.stdout]).toEqual([1, ''])
    expect(misplaced.stderr).toContain('"not/absolute"')
  })

  test.skipIf(isTaken)(
    'listens on port 7777 of the local host unless told otherwise',
    proving(['vmhost.serve.default-address', 'vmhost.limits.port'], async () => {
      await using other = await startVmHost([])
      expect(other.url).toBe('http://127.0.0.1:7777')
      expect((await fetch('http://127.0.0.1:7777/svc/config')).status).toBe(200)
      // `backlot host` finds it there without being told.
      expect((await runBacklot(['host', 'config'], { BACKLOT_HOME: other.home })).status).toBe(0)
    }),
  )

  test('asks for a token that stands in a file, and `host` sends it', async () => {
    const file = join(host.home, 'key')
    await writeFile(file, 'open-sesame\n')
    await using other = await startVmHost(['--host', '0.0.0.0', '--port', '0', '--token-file', file])
    const url = `http://127.0.0.1:${other.port}`
    const without = await runBacklot(['host', 'config', '--url', url])
    expect([without.status, without.stdout]).toEqual([1, ''])
    expect((await runBacklot(['host', 'config', '--url', url], { BACKLOT_HOST_TOKEN: 'open-sesame' })).status).toBe(0)
    await other.end()
    expect(other.log()).not.toContain('sesame')
  })

  test('serves a Unix socket that `host` can use', async () => {
    const path = join(host.home, 'host.sock')
    await using other = await startVmHost(['--listen', `unix:${path}`])
    expect(other.url).toBe(`unix:${path}`)
    expect((await other.host('config')).status).toBe(0)
  })

  test('does not take a Unix socket from a service that has just begun to listen there', async () => {
    const path = join(host.home, 'left.sock')
    const log = join(host.home, 'connect.log')
    await using dead = await startVmHost(['--listen', `unix:${path}`])
    await dead.kill()
    // Stands still when it has seen that nobody listens, before it does anything about it.
    const stop = ['-e', 'trace=connect', '-e', 'inject=connect:signal=SIGSTOP:when=1']
    const home = join(host.home, 'slow')
    const slow = Bun.spawn(
      ['strace', '-f', '-qqq', '-o', log, ...stop, ...backlotCommand('serve', '--listen', `unix:${path}`)],
      {
        env: { ...process.env, BACKLOT_HOME: home },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    const line = await until('it to have looked', () =>
      /^(\d+) +connect\(.*left\.sock.*ECONNREFUSED/m.exec(readIfThere(log)),
    )
    const pid = Number(line[1])
    await until('it to stand still', () => /^State:\t[tT]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')))
    const quick = await startVmHost(['--listen', `unix:${path}`]).catch((error: Error) => error)
    process.kill(pid, 'SIGCONT')
    const printed = (await slow.stdout.getReader().read()).value
    if (!(quick instanceof Error)) await quick.end()
    // One of them listens, and the other says that it does not.
    expect([quick instanceof Error, printed !== undefined]).toEqual([true, true])
    expect(String(quick)).toContain('another service is starting there')
    expect((await fetch('http://localhost/svc/config', { unix: path })).status).toBe(200)
    process.kill(pid, 'SIGTERM')
    await slow.exited
  })

  test('leaves a connection over a Unix socket open while nothing is said', async () => {
    const path = join(host.home, 'quiet.sock')
    await using _other = await startVmHost(['--listen', `unix:${path}`])
    const stream = await fetch('http://localhost/svc/events', { unix: path })
    const decoder = new TextDecoder()
    let heard = ''
    // The service says so after a silence that is longer than servers usually bear.
    for await (const bytes of stream.body ?? []) {
      heard += decoder.decode(bytes)
      if (heard.includes(': still here')) break
    }
    expect(heard).toContain(': still here')
  })
})

describe('host', () => {
  test('says how to start the service where none answers', async () => {
    const call = await runBacklot(['host', 'config', '--url', 'http://127.0.0.1:1'])
    expect([call.status, call.stdout]).toEqual([1, ''])
    expect(call.stderr).toContain('backlot serve')
  })

  test('goes past the proxy of the environment to a service of this machine', async () => {
    const proxy = { HTTP_PROXY: 'http://127.0.0.1:1', no_proxy: 'example.com' }
    const call = await runBacklot(['host', 'config', '--url', host.url], proxy)
    expect([call.stderr, call.status]).toEqual(['', 0])
  })

  test('names what it does not take', async () => {
    for (const [args, status] of [
      [[], 64],
      [['config', 'nothing'], 64],
      [['config', 'set', '--nothing', '1'], 64],
      [['config', 'locations', 'add', 'one'], 64],
      [['config', 'set', '--caching-enabled', 'perhaps'], 1],
    ] as const) {
      const call = await host.host(...args)
      expect([args, call.status, call.stdout]).toEqual([args, status, ''])
      expect(call.stderr).not.toBe('')
    }
  })
})
