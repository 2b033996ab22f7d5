/** What a server that dies, stalls, or answers half does to each method. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Computer } from '@backlot/sdk'
import { startComputer, type TestComputer } from '../computer.ts'
import { type Fault, type FaultyProxy, faultyProxy } from '../faulty-proxy.ts'
import { type Driven, drive, type Runtime } from './driven.ts'

let computer: TestComputer
let proxy: FaultyProxy
const programs = new Map<string, Promise<Driven>>()

/** Films whose beginning was not told go on; only so many are made at a time. */
const endFilms = async () => {
  const { films } = (await (await fetch(`${computer.url}/film`)).json()) as { films: { id: string }[] }
  for (const { id } of films) await fetch(`${computer.url}/film/${id}?remove=true`, { method: 'DELETE' })
}

/** A limit for calls that meet a server which keeps silent. */
interface Limits {
  readonly timeoutMs: number
}
type Method = (computer: Computer, limits: Limits) => Promise<unknown>

/** Methods that only look: a lost answer is asked for once more. */
const reads: Readonly<Record<string, Method>> = {
  screenshot: (c, limits) => c.screenshot(limits),
  getEnvironment: (c, limits) => c.getEnvironment(limits),
  getDimensions: (c, limits) => c.getDimensions(limits),
  'screen.getTree': (c, limits) => c.screen.getTree(limits),
  'mouse.position': (c, limits) => c.mouse.position(limits),
  'clipboard.get': (c, limits) => c.clipboard.get(limits),
  'window.getActiveTitle': (c, limits) => c.window.getActiveTitle(limits),
  'window.list': (c, limits) => c.window.list(limits),
  'files.readText': (c, limits) => c.files.readText('/etc/hostname', limits),
  'files.readBytes': (c, limits) => c.files.readBytes('/etc/hostname', { ...limits, offset: 1 }),
  'files.stat': (c, limits) => c.files.stat('/etc', limits),
  'files.list': (c, limits) => c.files.list('/etc/alternatives', limits),
  'files.exists': (c, limits) => c.files.exists('/etc', limits),
}

/** Methods that do something: whatever happens, it is sent once. */
const acts: Readonly<Record<string, Method>> = {
  'mouse.click': (c, limits) => c.mouse.click(3, 3, limits),
  'mouse.rightClick': (c, limits) => c.mouse.rightClick(3, 3, limits),
  'mouse.doubleClick': (c, limits) => c.mouse.doubleClick(3, 3, limits),
  'mouse.move': (c, limits) => c.mouse.move(3, 3, limits),
  'mouse.scroll': (c, limits) => c.mouse.scroll(3, 3, limits),
  'mouse.mouseDown': (c, limits) => c.mouse.mouseDown(3, 3, limits),
  'mouse.mouseUp': (c, limits) => c.mouse.mouseUp(3, 3, limits),
  'mouse.drag': (c, limits) => c.mouse.drag(3, 3, 4, 4, { ...limits, durationMs: 10 }),
  'keyboard.type': (c, limits) => c.keyboard.type('a', limits),
  'keyboard.keypress': (c, limits) => c.keyboard.keypress('escape', limits),
  'keyboard.keyDown': (c, limits) => c.keyboard.keyDown('shift', limits),
  'keyboard.keyUp': (c, limits) => c.keyboard.keyUp('shift', limits),
  'clipboard.set': (c, limits) => c.clipboard.set('text', limits),
  'shell.run': (c, limits) => c.shell.run('echo once >> ~/ran', limits),
  'shell.start': async (c, limits) => (await c.shell.start('echo once >> ~/ran', limits)).wait(),
  'terminal.create': async (c, limits) => c.terminal.close((await c.terminal.create({ shell: 'sh', ...limits })).pid),
  'files.write': (c, limits) => c.files.write('~/written', 'once\n', { append: true, ...limits }),
  'files.replace': (c, limits) => c.files.write('~/replaced', 'once\n', limits),
  'files.upload': (c, limits) => c.files.upload('/etc/hostname', '~/uploaded', limits),
  'film.start': async (c, limits) => (await c.film.start(limits)).stop(),
  'files.makeDir': (c, limits) => c.files.makeDir('~/made', limits),
  'files.move': (c, limits) => c.files.move('/no/such', '/no/other', limits).catch(only('file_not_found')),
  'files.remove': (c, limits) => c.files.remove('/no/such', limits).catch(only('file_not_found')),
  'window.activate': (c, limits) => c.window.activate(1, limits).catch(only('window_not_found')),
  'window.maximize': (c, limits) => c.window.maximize(1, limits).catch(only('window_not_found')),
  'window.minimize': (c, limits) => c.window.minimize(1, limits).catch(only('window_not_found')),
  'window.close': (c, limits) => c.window.close(1, limits).catch(only('window_not_found')),
  'window.setBounds': (c, limits) => c.window.setBounds(1, { x: 1 }, limits).catch(only('window_not_found')),
  launch: (c, limits) => c.launch('no-such-program', limits).catch(only('app_not_found')),
  open: (c, limits) => c.open('/no/such', limits).catch(only('file_not_found')),
}

/** Stands in the text of a method that is sent to a program; it is defined there. */
declare const only: (code: string) => (error: unknown) => unknown
const defined = `const only = (code) => (error) => { if (error.code !== code) throw error }`

/** Calls a method in the program; gives `done`, or the code of its error and milliseconds it took. */
const call = (program: Driven, method: Method, limits: Limits): Promise<{ code: string; ms: number }> => {
  const work = `async (computer, limits) => {
    ${defined}
    const method = ${method}
    const begun = performance.now()
    const code = await method(computer, limits).then(() => 'done', (error) => error.code ?? String(error))
    return { code, ms: performance.now() - begun }
  }`
  // The text is what the program is sent.
  return program.run({ toString: () => work } as never, limits)
}

const setUp = (): void => {
  beforeAll(async () => {
    computer = await startComputer()
    proxy = await faultyProxy(computer.url)
  }, 60_000)

  afterAll(async () => {
    proxy.arm(undefined)
    for (const program of programs.values()) await (await program)[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await computer[Symbol.asyncDispose]()
  }, 60_000)
  afterEach(endFilms)
}

/** The tests of one runtime, in the file that calls this. */
export const testFaults = (runtime: Runtime): void => {
  setUp()
  describe.each(['http', 'websocket'] as const)(`${runtime}, %s`, (kind) => {
    const driven = (): Promise<Driven> => {
      const url = kind === 'http' ? proxy.url : `${proxy.url.replace('http', 'ws')}/ws`
      const started = programs.get(runtime + kind) ?? drive(runtime, { kind, url })
      programs.set(runtime + kind, started)
      return started
    }
    const enough = { timeoutMs: 20_000 }
    const little = { timeoutMs: 150 }
    /** How often each request was sent, at most. */
    const most = (requests: readonly string[]) =>
      Math.max(0, ...Object.values(Object.groupBy(requests, (each) => each)).map((each) => each?.length ?? 0))

    test.each(Object.entries(reads))('%s is asked for once more when its answer is lost', async (_, method) => {
      const program = await driven()
      for (const fault of ['drops', 'loses', 'halves'] as const satisfies Fault[]) {
        proxy.arm(fault)
        expect([fault, (await call(program, method, enough)).code]).toEqual([fault, 'done'])
        // One request may follow from another; none is sent a third time.
        expect(proxy.asked.length).toBeGreaterThan(1)
      }
      proxy.arm('stalls')
      const { code, ms } = await call(program, method, little)
      expect(code).toBe('timeout')
      expect(ms).toBeLessThan(5_000)
      proxy.arm(undefined)
      expect((await call(program, method, enough)).code).toBe('done')
    })

    test.each(Object.entries(acts))('%s is sent once, whatever happens', async (_, method) => {
      const program = await driven()
      for (const fault of ['drops', 'loses', 'halves'] as const satisfies Fault[]) {
        proxy.arm(fault)
        const { code } = await call(program, method, enough)
        expect([fault, code]).toEqual([fault, 'connection_lost'])
        expect([fault, proxy.asked.length, proxy.passed.length]).toEqual([fault, 1, fault === 'drops' ? 0 : 1])
      }
      proxy.arm('stalls')
      const { code, ms } = await call(program, method, little)
      expect(code).toBe('timeout')
      expect(ms).toBeLessThan(10_000)
      // On a busy machine the time may have passed before the request was sent.
      expect([most(proxy.asked) <= 1, proxy.passed.length]).toEqual([true, 0])
      proxy.arm(undefined)
      expect((await call(program, method, enough)).code).toBe('done')
    })
  })

  describe(runtime, () => {
    test('what was done although its answer was lost was done once', async () => {
      await using program = await drive(runtime, { kind: 'http', url: proxy.url })
      const file = `~/counted-${runtime}`
      proxy.arm('loses')
      const met = await program.fails(({ files }, path) => files.write(path, 'x', { append: true }), file)
      expect(met).toMatchObject({ code: 'connection_lost', retryable: false })
      expect(await computer.shell(`cat ${file}`)).toBe('x')
    })

    test('a file or folder that is cut on its way is not taken for whole', async () => {
      await using program = await drive(runtime, { kind: 'http', url: proxy.url })
      const [long, folder, local] = ['~/long', '~/long-folder', join(computer.home, `got-${runtime}`)]
      await computer.shell('mkdir -p ~/long-folder; head -c 3000000 /dev/urandom | tee ~/long > ~/long-folder/file')
      for (const [path, name] of [
        [long, 'file'],
        [folder, 'folder'],
      ] as const) {
        // What tells the one from the other is asked first.
        proxy.arm('cuts', 1)
        const met = await program.fails(({ files }, [from, to]) => files.download(from, to), [
          path,
          `${local}-${name}`,
        ] as const)
        expect([name, met.code]).toEqual([name, 'connection_lost'])
      }
      expect(existsSync(`${local}-file`)).toBe(false)
      proxy.arm('cuts')
      const bytes = await program.run(async ({ files }, path) => (await files.readBytes(path)).length, long)
      expect([bytes, proxy.asked.length]).toEqual([3_000_000, 2])
    })

    test('a server that is not there, is another, or asks for a key is told apart', async () => {
      const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<html>') })
      const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
      const urls = [other.url.origin, gone.url.origin]
      await gone.stop(true)
      await using program = await drive(runtime, { kind: 'http', url: proxy.url })
      await using keyed = await startComputer(['--port', '0'], { BACKLOT_COMPUTER_KEY: 'secret' })
      const codes = await program.run(
        async (_, given, { HTTPTransport, WebSocketTransport }) => {
          const code = (work: Promise<unknown>) =>
            work.then(
              () => 'done',
              (error) => error.code,
            )
          const told: string[][] = []
          for (const url of given) {
            const [http, socket] = [new HTTPTransport(url), new WebSocketTransport(url.replace('http', 'ws'))]
            told.push([
              await code(http.connect()),
              await code(http.send('version')),
              await code(socket.connect()),
              await code(socket.send('version')),
            ])
          }
          return told
        },
        [...urls, keyed.url],
      )
      await other.stop(true)
      expect(codes).toEqual([
        ['server_incompatible', 'server_incompatible', 'server_incompatible', 'server_incompatible'],
        ['unreachable', 'unreachable', 'unreachable', 'unreachable'],
        ['unauthorized', 'unauthorized', 'done', 'unauthorized'],
      ])
    })
  })
}
