import { afterEach, expect, test } from 'bun:test'
import { callTool } from './call.ts'
import { openDriver } from './driver.ts'

const servers: Bun.Subprocess[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    // Not SIGKILL: it removes its socket itself.
    server.kill()
    await server.exited
  }
})

/** Starts an X server, on a free display where none is named, and gives its display once it answers. */
const startServer = async (...display: string[]): Promise<{ server: Bun.Subprocess; display: string }> => {
  const server = Bun.spawn(
    ['Xvfb', ...display, '-displayfd', '1', '-ac', '-nolisten', 'tcp', '-screen', '0', '64x48x24'],
    {
      stdout: 'pipe',
      stderr: 'ignore',
    },
  )
  servers.push(server)
  // The number and its line end are two writes; a server that cannot write the second ends.
  let said = ''
  for await (const bytes of server.stdout) {
    said += new TextDecoder().decode(bytes)
    if (said.endsWith('\n')) return { server, display: `:${said.trim()}` }
  }
  throw new Error('Xvfb ended')
}

test('a driver whose display went away says so, and works again when it is back', async () => {
  const { server, display } = await startServer()
  await using driver = await openDriver({ display, configFile: '/nonexistent/driver.json' })
  const ask = async () =>
    (await callTool(driver, 'get_screen_size', {}, { client: 'test', signal: new AbortController().signal }))
      .structuredContent
  expect(await ask()).toMatchObject({ width: 64, height: 48 })
  server.kill('SIGKILL')
  await server.exited
  expect(await ask()).toMatchObject({ code: 'display_lost' })
  expect(await ask()).toMatchObject({ code: 'display_unavailable' })
  await startServer(display)
  expect(await ask()).toMatchObject({ width: 64, height: 48 })
}, 30_000)
