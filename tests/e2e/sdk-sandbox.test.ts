import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Image, Sandbox, type SandboxInfo } from '@backlot/sdk'
import { serverKey, stateOf } from '../support/process-runtime.ts'
import { proving } from '../support/proves.ts'
import { type SandboxHome, sandboxHome } from '../support/sandbox-home.ts'

const image = Image.desktop()

const pidOf = async ({ runtime }: SandboxHome, name: string): Promise<number | undefined> =>
  (await runtime.list()).find((each) => each.name === name)?.pid

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error) => error.code ?? String(error),
  )

test(
  'a sandbox that was created is running and connected, and stays when its connection is dropped',
  proving(
    ['sandbox.create', 'sandbox.state.created', 'sandbox.state.disconnected', 'sandbox.connect', 'sandbox.three-ways'],
    async () => {
      const home = sandboxHome()
      const { runtime } = home
      const sandbox = await Sandbox.create(image, { runtime, name: 'stays', cpu: 2, labels: { team: 'a' } })
      expect([sandbox.name, sandbox.source, sandbox.ephemeral]).toEqual(['stays', 'process', false])
      expect((await sandbox.shell.run('echo $((6 * 7))')).stdout).toBe('42\n')
      await sandbox.disconnect()
      await sandbox.disconnect()
      expect(stateOf((await pidOf(home, 'stays')) ?? 0)).toBeDefined()

      {
        await using again = await Sandbox.connect('stays', { runtime, cpu: 2 })
        await again.files.write('~/note.txt', 'still here')
      }
      await using once = await Sandbox.connect('stays')
      expect(await once.files.readText('~/note.txt')).toBe('still here')
      expect(await codeOf(Sandbox.connect('stays', { cpu: 3 }))).toBe('invalid_argument')
      expect(await codeOf(Sandbox.connect('stays', { memoryMb: 512 }))).toBe('invalid_argument')
      expect(await codeOf(Sandbox.create(image, { runtime, name: 'stays' }))).toBe('sandbox_exists')
    },
  ),
)

test(
  'the end of a scope only disconnects what was connected to, and destroys what is ephemeral',
  proving(
    ['sandbox.connect.scoped', 'sandbox.ephemeral', 'sandbox.state.ephemeral', 'sandbox.disconnect'],
    async () => {
      const home = sandboxHome()
      const { runtime } = home
      let pid = 0
      {
        await using sandbox = await Sandbox.ephemeral(image, { runtime, name: 'short' })
        expect(sandbox.ephemeral).toBe(true)
        const before = await Sandbox.connect('short')
        await before.disconnect()
        expect((await sandbox.shell.run('echo goes on')).stdout).toBe('goes on\n')
        pid = (await pidOf(home, 'short')) ?? 0
        {
          await using other = await Sandbox.connect('short')
          expect((await other.shell.run('echo hi')).stdout).toBe('hi\n')
        }
        expect(stateOf(pid)).toBeDefined()
        expect((await sandbox.getInfo()).ephemeral).toBe(true)
      }
      expect(stateOf(pid)).toBeUndefined()
      expect(readdirSync(home.states).filter((file) => file.endsWith('.json'))).toEqual([])
      expect(await codeOf(Sandbox.getInfo('short', { runtime }))).toBe('sandbox_not_found')
    },
  ),
)

test('an ephemeral sandbox that is kept stays when its scope ends, whoever kept it', async () => {
  const home = sandboxHome()
  const { runtime } = home
  {
    await using sandbox = await Sandbox.ephemeral(image, { runtime, name: 'kept' })
    await sandbox.keep()
    expect(sandbox.ephemeral).toBe(false)
  }
  expect((await Sandbox.getInfo('kept')).status).toBe('running')
  {
    await using _owner = await Sandbox.ephemeral(image, { runtime, name: 'kept-by-another' })
    const other = await Sandbox.connect('kept-by-another')
    await other.keep()
    await other.disconnect()
  }
  const info = await Sandbox.getInfo('kept-by-another')
  expect([info.status, info.ephemeral]).toEqual(['running', false])
})

test(
  'what is known of a sandbox is whole, and keys stand in none of it',
  proving(
    [
      'sandbox.info.name',
      'sandbox.info.status',
      'sandbox.info.source',
      'sandbox.info.os-type',
      'sandbox.info.created-at',
    ],
    async () => {
      const { runtime, states } = sandboxHome()
      const before = Date.now()
      await using sandbox = await Sandbox.create(Image.linux(), { runtime, name: 'known', labels: { team: 'a' } })
      const info = await Sandbox.getInfo('known')
      const port = (await runtime.list()).length
      expect(port).toBe(1)
      const expected: Partial<SandboxInfo> = {
        name: 'known',
        status: 'running',
        source: 'process',
        osType: 'linux',
        host: '127.0.0.1',
        vncUrl: null,
        expiresAt: null,
        ephemeral: false,
        isolation: 'none',
        labels: { team: 'a' },
        warnings: [],
      }
      expect(info).toMatchObject(expected)
      expect(Date.parse(info.createdAt ?? '')).toBeGreaterThanOrEqual(before)
      expect(info.createdAt).toEndWith('Z')
      expect(await (await fetch(`${info.apiUrl}/status`)).json()).toMatchObject({ server: 'backlot' })
      expect(await sandbox.getInfo()).toEqual(info)
      const state = readFileSync(join(states, 'known.json'), 'utf8')
      expect(state).not.toContain(serverKey)
      expect(JSON.stringify(info)).not.toContain(serverKey)
      expect(JSON.parse(state)).toMatchObject({ created_at: info.createdAt, connection: { guest_server_port: 8000 } })
      const keys = join(states, 'keys', 'known.json')
      expect(JSON.parse(readFileSync(keys, 'utf8'))).toEqual({ api_key: serverKey })
      const modes = [join(states, 'known.json'), keys, states].map((path) => (statSync(path).mode & 0o777).toString(8))
      expect(modes).toEqual(['600', '600', '700'])
    },
  ),
)

test(
  'the address of a server and its host are told',
  proving(['sandbox.info.host', 'sandbox.info.api-url', 'sandbox.get-info'], async () => {
    const { runtime } = sandboxHome()
    await using sandbox = await Sandbox.ephemeral(image, { runtime })
    expect(sandbox.name).toMatch(/^[a-z]+-[a-z]+-\d+$/)
    const { host, apiUrl } = await Sandbox.getInfo(sandbox.name)
    expect(host).toBe('127.0.0.1')
    const answer = await fetch(`${apiUrl}/cmd`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': serverKey },
      body: '{"command":"run_command","params":{"command":"echo $HOME"}}',
    })
    expect(await answer.text()).toContain(`${sandbox.name}.home`)
  }),
)

test(
  'a sandbox is suspended, continues where it was, and is restarted',
  proving(
    ['sandbox.suspend', 'sandbox.resume', 'sandbox.restart', 'sandbox.state.resumed', 'sandbox.state.restarted'],
    async () => {
      const home = sandboxHome()
      const { runtime } = home
      await (await Sandbox.create(image, { runtime, name: 'paused' })).disconnect()
      const pid = (await pidOf(home, 'paused')) ?? 0
      await Sandbox.suspend('paused', { local: true })
      expect(stateOf(pid)).toBe('T')
      expect((await Sandbox.getInfo('paused')).status).toBe('suspended')
      expect(await codeOf(Sandbox.connect('paused'))).toBe('sandbox_not_running')
      expect(await codeOf(Sandbox.suspend('paused'))).toBe('sandbox_not_running')

      const resumed = await Sandbox.resume('paused', { local: true })
      expect((await resumed.shell.run('echo on')).stdout).toBe('on\n')
      expect(await pidOf(home, 'paused')).toBe(pid)
      const again = await Sandbox.resume('paused')
      await again.disconnect()

      const restarted = await Sandbox.restart('paused', { local: true })
      expect((await restarted.shell.run('echo back')).stdout).toBe('back\n')
      const verbs = runtime.calls.map(({ verb }) => verb)
      expect(verbs).toEqual(['started', 'suspended', 'resumed', 'suspended', 'resumed'])
      expect(runtime.calls.filter(({ verb }) => verb === 'resumed').map(({ source }) => source)).toEqual([
        'linux',
        'linux',
      ])
    },
  ),
)

test(
  'a sandbox is deleted with its state file, running or suspended, and destroyed by who has it',
  proving(['sandbox.delete', 'sandbox.state.deleted.local', 'sandbox.state.destroyed', 'sandbox.destroy'], async () => {
    const home = sandboxHome()
    const { runtime, states } = home
    const gone = async (name: string, pid: number) => {
      expect(stateOf(pid)).toBeUndefined()
      expect([`${name}.json`, `keys/${name}.json`].map((file) => existsSync(join(states, file)))).toEqual([
        false,
        false,
      ])
      expect(await codeOf(Sandbox.delete(name, { local: true }))).toBe('sandbox_not_found')
    }
    for (const name of ['runs', 'waits']) {
      await (await Sandbox.create(image, { runtime, name })).disconnect()
      const pid = (await pidOf(home, name)) ?? 0
      if (name === 'waits') await Sandbox.suspend(name)
      await Sandbox.delete(name, { local: true })
      await gone(name, pid)
    }
    const sandbox = await Sandbox.create(image, { runtime, name: 'destroyed' })
    const pid = (await pidOf(home, 'destroyed')) ?? 0
    await sandbox.destroy()
    await sandbox.destroy()
    await gone('destroyed', pid)
  }),
)

test(
  'the list has what runs and what is suspended, newest first, awaited or iterated',
  proving(['sandbox.state.listed'], async () => {
    const { runtime } = sandboxHome()
    expect(await Sandbox.list({ runtime })).toEqual([])
    for (const name of ['one', 'two', 'three']) {
      await (await Sandbox.create(image, { runtime, name, labels: { odd: String(name !== 'two') } })).disconnect()
    }
    await Sandbox.suspend('two')
    // Another program started this one, without the package.
    await runtime.start(image, 'other')
    expect(await codeOf(Sandbox.create(image, { runtime, name: 'other' }))).toBe('sandbox_exists')
    const all = await Sandbox.list({ runtime })
    expect(all.map(({ name, status }) => [name, status])).toEqual([
      ['three', 'running'],
      ['two', 'suspended'],
      ['one', 'running'],
      ['other', 'running'],
    ])
    const names: string[] = []
    for await (const { name } of Sandbox.list({ local: true, labels: { odd: 'true' } })) names.push(name)
    expect(names).toEqual(['three', 'one'])
    expect((await Sandbox.list({ runtime, status: 'suspended' })).map(({ name }) => name)).toEqual(['two'])
    await Sandbox.delete('other', { runtime })
    expect((await runtime.list()).map(({ name }) => name).sort()).toEqual(['one', 'three', 'two'])
  }),
)

test('what a runtime cannot do is refused with the reason that it declares', async () => {
  const { runtime } = sandboxHome()
  await using sandbox = await Sandbox.ephemeral(image, { runtime })
  const refusals = [
    sandbox.fork(2),
    sandbox.snapshot(),
    sandbox.getDisplayUrl(),
    Sandbox.create(image, { runtime, memoryMb: 512 }),
    Sandbox.create(image, { runtime, mounts: [{ hostPath: '/tmp', path: '/x' }] }),
    Sandbox.create(image, { runtime, network: 'none' }),
    Sandbox.create(Image.windows(), { runtime }),
    sandbox.mobile.tap(1, 2),
  ]
  const errors = await Promise.all(
    refusals.map((each) =>
      each.then(
        () => undefined,
        (error) => error,
      ),
    ),
  )
  expect(errors.map((error) => error?.code)).toEqual(refusals.map(() => 'unsupported'))
  expect(errors[0].reason).toBe('A process cannot be copied with its sockets.')
  expect((await runtime.list()).map(({ name }) => name)).toEqual([sandbox.name])
})

test(
  'a sandbox has every interface',
  proving(['sandbox.attributes'], async () => {
    const { runtime } = sandboxHome()
    await using sandbox = await Sandbox.ephemeral(image, { runtime })
    const methods = (of: object) => Object.values(of).filter((each) => typeof each === 'function').length
    const { screen, mouse, keyboard, clipboard, shell, window, terminal, mobile, tunnel } = sandbox
    const counts = [screen, mouse, keyboard, clipboard, shell, window, terminal, mobile, tunnel].map(methods)
    expect(counts.every((count) => count > 0)).toBe(true)
    expect(methods(mobile)).toBe(25)
    await sandbox.files.write('~/page/index.html', 'inside')
    const listen =
      "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); print(s.server_port, flush=True); s.serve_forever()"
    await using server = await shell.start(`exec python3 -c "${listen}"`, { cwd: '~/page' })
    let port = 0
    for await (const line of server.lines()) {
      port = Number(line)
      break
    }
    await using opened = await tunnel.forward(port)
    expect(await (await fetch(opened.url)).text()).toBe('inside')
  }),
)

test('the log of a sandbox is read by lines', async () => {
  const { runtime } = sandboxHome()
  await using sandbox = await Sandbox.ephemeral(image, { runtime, name: 'logged' })
  await sandbox.shell.run('true')
  const lines: string[] = []
  for await (const line of Sandbox.logs('logged')) lines.push(line)
  expect(lines.join('\n')).toContain('POST /cmd 200')
})
