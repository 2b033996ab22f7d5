import { describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { proving } from '../support/proves.ts'
import { runtimes } from '../support/sdk/driven.ts'
import { sdkSetup, ways } from '../support/sdk/setup.ts'

const setup = sdkSetup()

describe.each(ways)('%s, %s', (runtime, kind) => {
  const driven = () => setup().program(runtime, kind)

  test('a film grows while it is read, ends, and is saved whole', async () => {
    const program = await driven()
    const path = setup().desktop.path(`${runtime}-${kind}.mp4`)
    const streamed = `${path}.streamed.mp4`
    const told = await program.run(
      async ({ film, mouse, files }, [saved, other]) => {
        const making = await film.start({ framesPerSecond: 20 })
        const stream = await making.stream()
        const reader = stream.getReader()
        const parts: Uint8Array[] = []
        let x = 0
        const first = await reader.read()
        parts.push(first.value as Uint8Array)
        for (; x < 10; x++) await mouse.move(100 + 20 * x, 100)
        await making.saveAs(saved)
        for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value)
        await files.write(other, new Blob(parts as Uint8Array<ArrayBuffer>[]))
        const end = await making.stop()
        await making[Symbol.asyncDispose]()
        return end
      },
      [path, streamed] as const,
    )
    expect(statSync(path).size).toBe(told.sizeBytes)
    for (const file of [path, streamed]) {
      const probe = [
        'ffprobe',
        '-v',
        'error',
        '-show_entries',
        'stream=codec_name,r_frame_rate',
        '-of',
        'csv=p=0',
        file,
      ]
      expect((await setup().desktop.run(probe as [string, ...string[]])).stdout.trim()).toBe('h264,20/1')
    }
    expect(told.durationMs).toBeGreaterThan(0)
    const wrong = await program.fails(({ film }) => film.start({ framesPerSecond: 61 }))
    expect(wrong.code).toBe('invalid_argument')
  })

  test('agents are given the tools as an MCP server', async () => {
    const program = await driven()
    const { url, headers } = await program.run((computer) => computer.getMcpServer(), undefined)
    const ask = (more: Readonly<Record<string, string>>) => {
      const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
      const accept = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
      return fetch(url, { method: 'POST', headers: { ...accept, ...more }, body })
    }
    const answer = await ask(headers)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('serverInfo')])
    expect((await ask({})).status).toBe(401)
  })

  test(
    'the address of the screen is refused where the transport has none',
    proving(['sandbox.transport.display-url', 'sandbox.errors.display-url'], async () => {
      const program = await driven()
      const met = await program.fails(({ transport }) => transport.getDisplayUrl({ share: true }))
      expect(met).toMatchObject({ name: 'UnsupportedError', code: 'unsupported' })
    }),
  )
})

/** A server of this test that sends back what it is sent, in capitals, and then its end. */
const shouting = async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('data', (bytes) => socket.write(bytes.toString('latin1').toUpperCase(), 'latin1'))
    socket.on('end', () => socket.end())
    socket.on('error', () => undefined)
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  const { port } = server.address() as { port: number }
  return { port, [Symbol.dispose]: () => void server.close() }
}

describe.each(runtimes.flatMap((runtime) => (['http', 'websocket'] as const).map((kind) => [runtime, kind] as const)))(
  'tunnels: %s, %s',
  (runtime, kind) => {
    test(
      'bytes go both ways, as many as there are, to their ends',
      proving(
        [
          'sandbox.transport.tunnel',
          'sandbox.tunnel-info.host',
          'sandbox.tunnel-info.port',
          'sandbox.tunnel-info.sandbox-port',
          'sandbox.tunnel-info.url',
        ],
        async () => {
          const program = await setup().program(runtime, kind)
          using server = await shouting()
          const info = await program.run(async ({ transport }, port, _, kept) => {
            kept.tunnel = await transport.forwardTunnel(port)
            return kept.tunnel
          }, server.port)
          expect(info).toEqual({
            host: '127.0.0.1',
            port: expect.any(Number),
            sandboxPort: server.port,
            url: `http://127.0.0.1:${info.port}`,
          })
          const send = async (text: string) => {
            let got = ''
            const seen = Promise.withResolvers<void>()
            const socket = await Bun.connect({
              hostname: '127.0.0.1',
              port: info.port,
              allowHalfOpen: true,
              socket: {
                data(_, bytes) {
                  got += bytes.toString('latin1')
                },
                end: () => seen.resolve(),
                close: () => seen.resolve(),
                drain: () => undefined,
              },
            })
            const bytes = Buffer.from(text)
            for (let at = 0; at < bytes.byteLength; ) {
              at += socket.write(bytes.subarray(at))
              await new Promise((settle) => setImmediate(settle))
            }
            socket.shutdown()
            await seen.promise
            socket.end()
            return got
          }
          expect(await Promise.all(['one', 'two', 'x'.repeat(5_000_000)].map(send))).toEqual([
            'ONE',
            'TWO',
            'X'.repeat(5_000_000),
          ])
          await program.run(async ({ transport }, _, __, kept) => {
            await transport.closeTunnel(kept.tunnel)
            await transport.closeTunnel(kept.tunnel)
          }, undefined)
          await expect(fetch(info.url)).rejects.toThrow()
        },
      ),
    )

    test('nothing that listens is waited for, and what cannot be is refused', async () => {
      const program = await setup().program(runtime, kind)
      const free = await shouting()
      free[Symbol.dispose]()
      const codes = await program.run(async ({ transport }, port) => {
        const forward = transport.forwardTunnel.bind(transport) as (
          target: unknown,
          options?: unknown,
        ) => Promise<unknown>
        const met = []
        for (const [target, options] of [
          [port, { wait: true, timeoutMs: 300 }],
          [0, {}],
          ['chrome_devtools_remote', {}],
          [port, { port: 70_000 }],
        ] as const) {
          met.push(await forward(target, options).catch((error) => error.code))
        }
        return met
      }, free.port)
      expect(codes).toEqual(['not_ready', 'invalid_argument', 'unsupported', 'invalid_argument'])
      // A tunnel to nothing ends what connects.
      const info = await program.run(({ transport }, port) => transport.forwardTunnel(port), free.port)
      await expect(fetch(info.url)).rejects.toThrow()
      const waited = program.run(async ({ shell, transport }, port) => {
        const server = await shell.start(`sleep 0.3; exec python3 -m http.server ${port} --bind 127.0.0.1`)
        const tunnel = await transport.forwardTunnel(port, { wait: true } as object)
        const { status } = await fetch(tunnel.url)
        await server[Symbol.asyncDispose]()
        return status
      }, free.port)
      expect(await waited).toBe(200)
    })
  },
)
