import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type * as Sdk from '@backlot/sdk'
import { type Browser, openBrowser } from '../support/browser.ts'
import { startComputer, type TestComputer } from '../support/computer.ts'
import { nodeFolder, npmPackages } from '../support/npm-packages.ts'
import { publishedPackages } from '../support/packages.ts'
import { recipes } from '../support/recipes.ts'
import { until } from '../support/until.ts'

const packages = publishedPackages(['@backlot/sdk'])
const key = 'the-key-of-this-computer'

/** A project that has the SDK and nothing else. */
let project: string
/** It asks for a key. */
let computer: TestComputer
let browser: Browser
/** Folder of bundlers and of a runtime at the edge, which know nothing of Node. */
let tools: string

beforeAll(async () => {
  ;[project, computer, browser, tools] = await Promise.all([
    packages().project('npm', ['@backlot/sdk']),
    startComputer(['--desktop', '--port', '0'], { BACKLOT_COMPUTER_KEY: key }),
    openBrowser(),
    npmPackages({ esbuild: '0.28.2', '@cloudflare/workerd-linux-64': '1.20261117.1' }),
  ])
})

afterAll(async () => {
  // Those that have not come to be are undefined.
  await browser?.[Symbol.asyncDispose]()
  await computer?.[Symbol.asyncDispose]()
})

type Bundler = 'esbuild' | 'bun'

/** Bundles a program of the project as its users do, and gives the path of the one file. */
const bundled = async (by: Bundler, text: string, ...flags: string[]): Promise<string> => {
  const name = Bun.randomUUIDv7()
  const [entry, outfile] = [join(project, `${name}.ts`), join(project, `${name}.js`)]
  await writeFile(entry, text)
  const words =
    by === 'bun'
      ? [process.execPath, 'build', '--target', 'browser', '--outfile', outfile, entry, ...flags]
      : [
          join(tools, `@esbuild/linux-${process.arch}/bin/esbuild`),
          ...['--bundle', '--format=esm', '--log-level=warning', `--outfile=${outfile}`, entry, ...flags],
        ]
  const child = Bun.spawnSync(words, { cwd: project, env: { HOME: project } })
  expect({ by, said: child.stderr.toString(), success: child.success }).toMatchObject({ success: true })
  expect(child.stderr.toString()).not.toMatch(/warn|error/i)
  return outfile
}

/** A running program that serves pages. */
interface Pages extends AsyncDisposable {
  readonly url: string
}

/** Starts the server of the recipe, which gives a bundle as `page.js` and passes on what is for the computer. */
const servePages = async (runtime: string, bundle: string): Promise<Pages> => {
  const folder = await packages().folder('pages')
  await writeFile(join(folder, 'page.js'), await readFile(bundle))
  const program = join(folder, 'server.mjs')
  await writeFile(program, new Bun.Transpiler({ loader: 'ts' }).transformSync(recipes.get('page-server') ?? ''))
  const child = Bun.spawn([runtime, program], {
    cwd: folder,
    env: { HOME: folder, COMPUTER_URL: computer.url, PORT: '0' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said = new TextDecoder().decode((await child.stdout.getReader().read()).value)
  const [, port] = /port: (\d+)/.exec(said) ?? []
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Does something in the page with the SDK of its bundle; what is thrown there is thrown here. */
const inPage = <Result, Argument>(
  work: (sdk: typeof Sdk, argument: Argument) => Promise<Result>,
  argument: Argument,
): Promise<Result> => browser.evaluate<Result>(`(${work})(sdk, ${JSON.stringify(argument)})`)

const bundlers: readonly [Bundler, runtime: () => Promise<string>][] = [
  ['esbuild', async () => join(await nodeFolder(20), 'node')],
  ['bun', async () => process.execPath],
]

test.each(bundlers)('a page bundled by %s operates a computer with its key', async (by, runtime) => {
  await using pages = await servePages(
    await runtime(),
    await bundled(by, `import * as sdk from '@backlot/sdk'\nglobalThis.sdk = sdk`),
  )
  await browser.goTo(pages.url)
  await browser.until('globalThis.sdk')
  for (const kind of ['httpUrl', 'wsUrl'] as const) {
    const said = await inPage(
      async ({ Sandbox }, { kind, key, file, page }) => {
        const address = `${page.replace('http', kind === 'wsUrl' ? 'ws' : 'http')}computer`
        const url = kind === 'wsUrl' ? `${address}/ws` : address
        const lab = await Sandbox.connect('lab', { [kind]: url, apiKey: key } as { httpUrl: string; apiKey: string })
        await lab.mouse.move(kind === 'wsUrl' ? 321 : 123, 45)
        const header = new DataView((await lab.screenshot()).buffer)
        const [width, height] = [header.getUint32(16), header.getUint32(20)]
        const ran = await lab.shell.run(`printf 'Grüße' > '${file}'; echo done; exit 3`)
        const running = await lab.shell.start('echo streamed; echo wrong >&2')
        let streamed = ''
        for await (const { text, stream } of running) streamed += `${stream}: ${text}`
        const read = await lab.files.readText(file)
        const missing = await lab.files.readText('/nowhere').catch((error: Sdk.SdkError) => [error.name, error.code])
        const refused = await Sandbox.connect('lab', { [kind]: url, apiKey: 'another' } as never).catch((e) => e.code)
        await lab.disconnect()
        return { width, height, ran, streamed, read, missing, refused }
      },
      { kind, key, file: join(computer.home, kind), page: pages.url },
    )
    expect(said).toMatchObject({
      width: 1280,
      height: 800,
      ran: { stdout: 'done\n', exitCode: 3 },
      read: 'Grüße',
      missing: ['NotFoundError', 'file_not_found'],
      refused: 'unauthorized',
    })
    expect(said.streamed).toContain('streamed')
    expect(await readFile(join(computer.home, kind), 'utf8')).toBe('Grüße')
    expect(await pointer()).toEqual({ x: kind === 'wsUrl' ? 321 : 123, y: 45 })
  }
  expect(browser.faults.filter((fault) => !/40[014]/.test(fault))).toEqual([])
  expect(computer.log()).toContain('/ws')
  expect(computer.log()).not.toContain(key)
})

/** Where the display says that the pointer is. */
const pointer = async (): Promise<{ x: number; y: number }> => {
  const answer = await fetch(`${computer.url}/cmd`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ command: 'run_command', params: { command: 'xdotool getmouselocation --shell' } }),
  })
  const { stdout } = JSON.parse((await answer.text()).slice('data: '.length)) as { stdout: string }
  const [, x, y] = /X=(\d+)\nY=(\d+)/.exec(stdout) ?? []
  return { x: Number(x), y: Number(y) }
}

test('what needs this machine refuses in a page with the reason and the way out', async () => {
  await using pages = await servePages(
    process.execPath,
    await bundled('esbuild', `import * as sdk from '@backlot/sdk'\nglobalThis.sdk = sdk`),
  )
  await browser.goTo(pages.url)
  await browser.until('globalThis.sdk')
  const met = await inPage(
    async (sdk, { key, httpUrl }) => {
      const lab = await sdk.Sandbox.connect('lab', { httpUrl, apiKey: key })
      const image = sdk.Image.desktop()
      const ways: Record<string, () => unknown> = {
        Localhost: () => sdk.Localhost.connect(),
        LocalTransport: () => new sdk.LocalTransport().connect(),
        'a sandbox here': () => sdk.Sandbox.create(image, { local: true }),
        'a runtime': () => sdk.Sandbox.ephemeral(image, { runtime: 'local' }),
        'the sandboxes here': async () => await sdk.Sandbox.list({ local: true }),
        'a picture in a file': () => lab.screenshot({ path: 'picture.png' }),
        'a file from here': () => lab.files.upload('here', 'there'),
        'a file to here': () => lab.files.download('there', 'here'),
        'a tunnel': () => lab.tunnel.forward(80),
        'signing in': () => sdk.login({ baseUrl: 'https://cloud.example' }),
        'a disk': () => sdk.createOverlay('a', 'b'),
        'a file of an image': () => image.copy('here', '/there').toCloudInit(),
      }
      const met: Record<string, unknown> = {}
      for (const [name, way] of Object.entries(ways)) {
        try {
          await way()
        } catch (error) {
          met[name] = sdk.BacklotError.is(error) ? [error.name, error.code, error.message] : String(error)
        }
      }
      return met
    },
    { key, httpUrl: `${pages.url}computer` },
  )
  expect(Object.keys(met).length).toBe(12)
  for (const [name, error] of Object.entries(met)) {
    const refusal = ['UnsupportedError', 'unsupported', expect.stringMatching(/Node/)]
    expect({ name, error }).toEqual({ name, error: refusal })
  }
})

test('the page of the recipe asks for the key and operates the computer', async () => {
  const text = recipes.get('page') ?? ''
  await using pages = await servePages(process.execPath, await bundled('esbuild', text))
  const loaded = browser.goTo(pages.url)
  await until('the question for the key', () =>
    browser.send('Page.handleJavaScriptDialog', { accept: true, promptText: key }).then(
      () => true,
      () => false,
    ),
  )
  await loaded
  const file = join(computer.home, 'page.txt')
  await until('what the page writes', async () => (await readFile(file, 'utf8').catch(() => '')) !== '')
  expect(await readFile(file, 'utf8')).toBe('a page sees 1280x800')
})

test('the server of the recipe refuses pages of other sites', async () => {
  await using pages = await servePages(process.execPath, await bundled('esbuild', ''))
  const ask = (headers: Record<string, string>) =>
    fetch(`${pages.url}computer/commands`, { headers: { 'X-API-Key': key, ...headers } })
  expect((await ask({ Origin: new URL(pages.url).origin })).status).toBe(200)
  expect((await ask({ Origin: 'http://elsewhere.example' })).status).toBe(404)
  expect((await ask({ Origin: 'null' })).status).toBe(404)
})

test('at the edge, where there is nothing but fetch, a program operates a computer', async () => {
  const program = `
    import { HTTPTransport, Image, Localhost, Sandbox, WebSocketTransport } from '@backlot/sdk'
    const over = async (transport, kind) => {
      await transport.connect()
      const { size } = await transport.send('get_screen_size')
      const { stdout } = await transport.send('run_command', { command: 'echo ' + kind })
      const picture = await transport.screenshot()
      await transport.disconnect()
      return [size.width, stdout, String.fromCharCode(...picture.slice(1, 4))]
    }
    export default { async fetch(request) {
      const { url, apiKey } = await request.json()
      const here = await Localhost.connect().catch(({ name, code }) => [name, code])
      const named = await Sandbox.create(Image.desktop(), { local: true }).catch(({ name }) => name)
      const http = await over(new HTTPTransport(url, { apiKey }), 'http')
      const socket = await over(new WebSocketTransport(url, { apiKey }), 'socket')
      return Response.json({ here, named, http, socket, node: typeof process, buffer: typeof Buffer })
    } }`
  const bundle = await bundled('esbuild', program, '--conditions=workerd,browser', '--target=es2022')
  const config = join(project, 'config.capnp')
  await writeFile(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .program), (name = "internet", network = (allow = ["private", "local"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const program :Workerd.Worker = (
  modules = [(name = "main", esModule = embed ${JSON.stringify(bundle.slice(project.length + 1))})],
  compatibilityDate = "2025-01-01",
);
`,
  )
  const edge = Bun.spawn([join(tools, '@cloudflare/workerd-linux-64/bin/workerd'), 'serve', '--control-fd=1', config], {
    cwd: project,
    env: { HOME: project },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  try {
    const said = new TextDecoder().decode((await edge.stdout.getReader().read()).value)
    const { port } = JSON.parse(said) as { port: number }
    const body = JSON.stringify({ url: computer.url, apiKey: key })
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
    expect(await answer.json()).toEqual({
      here: ['UnsupportedError', 'unsupported'],
      named: 'UnsupportedError',
      http: [1280, 'http\n', 'PNG'],
      socket: [1280, 'socket\n', 'PNG'],
      node: 'undefined',
      buffer: 'undefined',
    })
  } finally {
    edge.kill('SIGKILL')
    await edge.exited
  }
})

test('what bundlers for browsers take names no module of Node and no other package', async () => {
  const folder = join(project, 'node_modules/@backlot/sdk/fetch-only')
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  expect(files).toContain('index.js')
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8')
    for (const { path } of new Bun.Transpiler({ loader: 'js' }).scanImports(text)) {
      expect({ file, path }).toEqual({ file, path: expect.stringMatching(/^\.\//) })
    }
  }
})
