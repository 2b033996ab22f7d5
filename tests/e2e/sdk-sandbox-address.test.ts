import { expect, test } from 'bun:test'
import { sandbox as deprecatedSandbox, HTTPTransport, Image, localhost, Sandbox } from '@backlot/sdk'
import { startComputer } from '../support/computer.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'

const codeOf = (work: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(work).then(
    () => 'none',
    (error) => error.code ?? String(error),
  )

test(
  'a computer server that is there already is connected to by either address or by a transport',
  proving(['sandbox.parameters.url', 'sandbox.parameters.container-name', 'sandbox.auth.transports'], async () => {
    sandboxHome()
    await using computer = await startComputer(['--port', '0'], { BACKLOT_COMPUTER_KEY: 'k' })
    const keyed = { apiKey: 'k', containerName: 'mine' }
    const ways = [
      { httpUrl: computer.url, ...keyed },
      { wsUrl: `${computer.url.replace('http', 'ws')}/ws`, ...keyed },
      { transport: new HTTPTransport(computer.url, { apiKey: 'k' }) },
    ]
    for (const way of ways) {
      await using sandbox = await Sandbox.connect('lab', way)
      expect((await sandbox.shell.run('echo lab')).stdout).toBe('lab\n')
      expect([sandbox.name, sandbox.source]).toEqual(['lab', 'address'])
      expect(await sandbox.getInfo()).toMatchObject({ name: 'lab', status: 'running', osType: 'linux' })
      expect(await codeOf(sandbox.destroy())).toBe('unsupported')
      expect(await codeOf(sandbox.keep())).toBe('unsupported')
    }
    expect(await codeOf(Sandbox.connect('lab', { httpUrl: computer.url, apiKey: 'wrong' }))).toBe('unauthorized')
    expect(await codeOf(Sandbox.connect('lab', { httpUrl: computer.url }))).toBe('unauthorized')
    const both = { httpUrl: computer.url, wsUrl: computer.url } as object
    expect(await codeOf(Sandbox.connect('lab', both))).toBe('invalid_argument')
  }),
)

test(
  'ports inside are reached through tunnels, one or several, until they are closed',
  proving(['sandbox.tunnel.forward', 'sandbox.tunnel.several'], async () => {
    sandboxHome()
    await using computer = await startComputer(['--port', '0'])
    await using sandbox = await Sandbox.connect('lab', { httpUrl: computer.url })
    const inside = ['one', 'two'].map((said) =>
      Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(said) }),
    )
    const [one = 0, two = 0] = inside.map(({ port }) => port)
    const text = async (url: string) => (await fetch(url)).text()
    try {
      let left = ''
      {
        await using tunnel = await sandbox.tunnel.forward(one, { wait: true })
        left = tunnel.url
        expect([tunnel.host, tunnel.sandboxPort, tunnel.port === one]).toEqual(['127.0.0.1', one, false])
        expect([tunnel.url, await text(tunnel.url)]).toEqual([`http://127.0.0.1:${tunnel.port}`, 'one'])
      }
      expect(await codeOf(fetch(left))).toBe('ECONNREFUSED')
      const tunnels = await sandbox.tunnel.forward(one, two)
      const urls = [one, two].map((port) => tunnels.get(port)?.url ?? '')
      expect([[...tunnels.keys()], await Promise.all(urls.map(text))]).toEqual([
        [one, two],
        ['one', 'two'],
      ])
      await tunnels.close()
      for (const url of urls) expect(await codeOf(fetch(url))).toBe('ECONNREFUSED')
      let scoped: string[] = []
      {
        await using both = await sandbox.tunnel.forward(one, two)
        scoped = [...both.values()].map(({ url }) => url)
        expect(await Promise.all(scoped.map(text))).toEqual(['one', 'two'])
      }
      for (const url of scoped) expect(await codeOf(fetch(url))).toBe('ECONNREFUSED')
      // One that cannot be opened leaves none of the others.
      const opened: string[] = []
      const { transport } = sandbox
      const forward = transport.forwardTunnel.bind(transport)
      transport.forwardTunnel = async (target, options) => {
        const info = await forward(target, options)
        opened.push(info.url)
        return info
      }
      expect(await codeOf(sandbox.tunnel.forward(one, 'chrome_devtools_remote'))).toBe('unsupported')
      expect(opened).toHaveLength(1)
      expect(await codeOf(fetch(opened[0] ?? ''))).toBe('ECONNREFUSED')
      expect(await codeOf(sandbox.tunnel.forward('a socket'))).toBe('unsupported')
    } finally {
      for (const server of inside) server.stop(true)
    }
  }),
)

test('a browser sees the screen at an address that lets it in once, and nobody else', async () => {
  sandboxHome()
  await using computer = await startComputer(['--desktop', '--port', '0'], { BACKLOT_COMPUTER_KEY: 'k' })
  await using sandbox = await Sandbox.connect('lab', { httpUrl: computer.url, apiKey: 'k' })
  const url = await sandbox.getDisplayUrl()
  expect(url).toStartWith(`${computer.url}/view?link=`)
  const statusOf = async () => (await fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } })).status
  expect([await statusOf(), await statusOf()]).toEqual([200, 401])
  expect(await codeOf(sandbox.getDisplayUrl({ share: true }))).toBe('unsupported')
  await using blind = await startComputer(['--port', '0'])
  await using none = await Sandbox.connect('none', { httpUrl: blind.url })
  expect(await codeOf(none.getDisplayUrl())).toBe('unsupported')
})

test(
  'sandbox() takes what it took, and says once that it is deprecated',
  proving(['sandbox.deprecated.sandbox', 'sandbox.version.deprecated'], async () => {
    const { runtime } = sandboxHome()
    const warnings: Error[] = []
    const listen = (warning: Error) => void warnings.push(warning)
    process.on('warning', listen)
    try {
      await using computer = await startComputer(['--port', '0'], { BACKLOT_COMPUTER_KEY: 'k' })
      const address = { apiKey: 'k', containerName: 'c', name: 'old' }
      await using byHttp = await deprecatedSandbox({ httpUrl: computer.url, ...address })
      await using byWs = await deprecatedSandbox({ wsUrl: `${computer.url.replace('http', 'ws')}/ws`, ...address })
      for (const each of [byHttp, byWs]) expect((await each.shell.run('echo old')).stdout).toBe('old\n')
      await using made = await deprecatedSandbox({
        local: true,
        runtime,
        image: Image.desktop(),
        name: 'made',
        ephemeral: true,
        cpu: 1,
      })
      expect([made.name, made.source, made.ephemeral]).toEqual(['made', 'process', true])
      await using again = await deprecatedSandbox({ local: true, runtime, name: 'made' })
      expect(again.ephemeral).toBe(false)
      const cloud = { image: Image.desktop(), memoryMb: 512, diskGb: 8, region: 'us-east-1', apiKey: 'k' }
      expect(await codeOf(deprecatedSandbox(cloud))).toBe('cloud_not_configured')
      expect(await codeOf(deprecatedSandbox({ ephemeral: true }))).toBe('invalid_argument')
      await new Promise((heard) => setImmediate(heard))
    } finally {
      process.removeListener('warning', listen)
    }
    expect(warnings.map(({ name, message }) => [name, message])).toEqual([
      ['DeprecationWarning', expect.stringContaining('`Sandbox.create()`')],
    ])
  }),
)

test(
  'localhost() gives this machine, and says once that it is deprecated',
  proving(['sandbox.deprecated.localhost'], async () => {
    sandboxHome()
    const warnings: string[] = []
    const listen = (warning: Error) => void warnings.push(`${warning.name}: ${warning.message}`)
    process.on('warning', listen)
    try {
      for (const _ of [1, 2]) {
        await using here = await localhost()
        expect((await here.shell.run('echo $((6 * 7))')).stdout).toBe('42\n')
      }
      await new Promise((heard) => setImmediate(heard))
    } finally {
      process.removeListener('warning', listen)
    }
    expect(warnings).toEqual(['DeprecationWarning: `localhost()` is deprecated: use `Localhost.connect()`.'])
  }),
)
