import { expect, onTestFinished, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CloudTransport, configure, Image, Sandbox } from '@backlot/sdk'
import { type FakeCloud, startCloud } from '../support/fake-cloud.ts'
import { stateOf } from '../support/process-runtime.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { until } from '../support/until.ts'

const key = 'sk-a-key-that-nobody-sees'
const image = Image.desktop().env({ TZ: 'UTC' })
const cloud = { runtime: 'cloud' } as const

/** A cloud that is configured with its key. */
const configuredCloud = (): { cloud: FakeCloud; home: ReturnType<typeof sandboxHome> } => {
  const home = sandboxHome()
  const started = startCloud(key, join(home.folder, 'vms'))
  onTestFinished(() => started[Symbol.asyncDispose]())
  configure({ apiKey: key, baseUrl: started.url })
  return { cloud: started, home }
}

const asked = ({ requests }: FakeCloud, method?: string): string[] =>
  requests.filter((each) => method === undefined || each.method === method).map((each) => `${each.method} ${each.path}`)

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error) => error,
  )

test(
  'create makes a VM as sized and in the region, and waits until its computer can be used',
  proving(
    ['sandbox.parameters.size', 'sandbox.parameters.region', 'sandbox.limits.region', 'sandbox.version.cloud-path'],
    async () => {
      const { cloud: fake } = configuredCloud()
      await using sandbox = await Sandbox.create(image, { name: 'big', cpu: 2, memoryMb: 4096, diskGb: 20 })
      expect([sandbox.name, sandbox.source, sandbox.ephemeral]).toEqual(['big', 'cloud', false])
      expect((await sandbox.shell.run('echo $HOME')).stdout).toEndWith('/vms/big\n')
      expect(fake.requests.find(({ method }) => method === 'POST')).toEqual({
        method: 'POST',
        path: '/v1/vms',
        authorization: `Bearer ${key}`,
        body: {
          name: 'big',
          os: 'linux',
          region: 'us-east-1',
          image: JSON.parse(JSON.stringify(image.toDict())),
          cpu: 2,
          memoryMb: 4096,
          diskGb: 20,
        },
      })
      await using small = await Sandbox.create(image, { region: 'eu-central-1' })
      const [, body] = fake.requests.filter(({ method }) => method === 'POST').map((each) => each.body)
      expect(body).toMatchObject({ name: small.name, region: 'eu-central-1', configuration: 'small' })
      expect(asked(fake).every((each) => each.split(' ')[1]?.startsWith('/v1/'))).toBe(true)
      expect((await errorOf(Sandbox.create(image, { name: 'big' })))?.code).toBe('sandbox_exists')
    },
  ),
)

test(
  'a sandbox of the cloud is listed, suspended, resumed, restarted and deleted by its paths',
  proving(
    [
      'sandbox.list',
      'sandbox.state.suspended.cloud',
      'sandbox.cloud.stop',
      'sandbox.cloud.delete',
      'sandbox.state.deleted.cloud',
    ],
    async () => {
      const { cloud: fake } = configuredCloud()
      await (await Sandbox.create(image, { name: 'one' })).disconnect()
      await (await Sandbox.create(image, { name: 'two' })).disconnect()
      const pid = fake.pidOf('one') ?? 0
      await Sandbox.suspend('one', { local: false })
      expect(asked(fake)).toContain('POST /v1/vms/one/stop')
      expect(stateOf(pid)).toBe('T')
      const infos = await Sandbox.list()
      expect(infos.map(({ name, status, source }) => [name, status, source])).toEqual([
        ['two', 'running', 'cloud'],
        ['one', 'suspended', 'cloud'],
      ])
      expect((await errorOf(Sandbox.connect('one')))?.code).toBe('sandbox_not_running')
      const resumed = await Sandbox.resume('one', { apiKey: key })
      expect((await resumed.shell.run('echo on')).stdout).toBe('on\n')
      const restarted = await Sandbox.restart('one')
      expect((await restarted.shell.run('echo again')).stdout).toBe('again\n')
      expect(await Sandbox.getInfo('one')).toMatchObject({
        status: 'running',
        osType: 'linux',
        host: '127.0.0.1',
        vncUrl: 'http://screens.example:6901',
        isolation: 'vm',
        ephemeral: false,
        expiresAt: null,
      })
      await Sandbox.delete('one', cloud)
      expect(asked(fake, 'DELETE')).toEqual(['DELETE /v1/vms/one'])
      expect(stateOf(pid)).toBeUndefined()
      expect((await errorOf(Sandbox.getInfo('one')))?.code).toBe('sandbox_not_found')
      const two = await Sandbox.connect('two')
      await two.destroy()
      await two.destroy()
      expect(asked(fake, 'DELETE')).toEqual(['DELETE /v1/vms/one', 'DELETE /v1/vms/two'])
      expect(await Sandbox.list()).toEqual([])
    },
  ),
)

test('an ephemeral sandbox of the cloud ends with its scope, unless kept, and when its time is over', async () => {
  const { cloud: fake, home } = configuredCloud()
  {
    await using sandbox = await Sandbox.ephemeral(image, { name: 'short' })
    expect((await sandbox.getInfo()).ephemeral).toBe(true)
  }
  expect(asked(fake, 'DELETE')).toEqual(['DELETE /v1/vms/short'])
  {
    await using sandbox = await Sandbox.ephemeral(image, { name: 'kept' })
    await sandbox.keep()
  }
  expect(await Sandbox.getInfo('kept')).toMatchObject({ status: 'running', ephemeral: false })
  await using timed = await Sandbox.create(image, { name: 'timed', ttlMs: 600_000 })
  expect((await timed.getInfo()).expiresAt).not.toBeNull()
  await timed.setTtl(100)
  await until('the VM to end', () => fake.pidOf('timed') === undefined)
  const recordsLeft = () =>
    readdirSync(join(home.states, 'cloud'), { recursive: true }).filter((file) => String(file).endsWith('.json'))
  await until('its record to go', () => recordsLeft().length === 0)
})

test(
  'the transport of the cloud makes a VM or takes the one of its name, and has all its verbs',
  proving(['sandbox.transport.cloud'], async () => {
    const { cloud: fake } = configuredCloud()
    const options = { name: 'moved', apiKey: key, baseUrl: fake.url, region: 'us-east-1' }
    await using made = new CloudTransport({ ...options, image, cpu: 1, memoryMb: 512, diskGb: 8 })
    await made.connect()
    const run = async (transport: CloudTransport) =>
      (await transport.send('run_command', { command: 'echo hi' })).stdout
    expect(await run(made)).toBe('hi\n')
    expect(await made.getEnvironment()).toBe('linux')
    await using taken = new CloudTransport(options)
    await taken.connect()
    expect(await run(taken)).toBe('hi\n')
    await taken.suspendVm()
    expect(stateOf(fake.pidOf('moved') ?? 0)).toBe('T')
    expect((await errorOf(taken.send('version')))?.code).toBe('connection_lost')
    await taken.resumeVm()
    expect(await run(taken)).toBe('hi\n')
    const before = fake.pidOf('moved')
    await taken.restartVm()
    expect(await run(taken)).toBe('hi\n')
    expect(fake.pidOf('moved')).not.toBe(before)
    await taken.deleteVm()
    const posted = asked(fake).filter((each) => !each.startsWith('GET'))
    expect(posted).toEqual([
      'POST /v1/vms',
      'POST /v1/vms/moved/stop',
      'POST /v1/vms/moved/run',
      'POST /v1/vms/moved/restart',
      'DELETE /v1/vms/moved',
    ])
  }),
)

test(
  'the address of the screen is plain, or public with the password in it',
  proving(['sandbox.get-display-url', 'sandbox.get-display-url.share'], async () => {
    configuredCloud()
    await using sandbox = await Sandbox.ephemeral(image)
    expect(await sandbox.getDisplayUrl()).toBe('http://screens.example:6901/vnc.html?autoconnect=true')
    const watched = await sandbox.getDisplayUrl({ viewOnly: true })
    expect(new URL(watched).searchParams.get('view_only')).toBe('true')
    expect(await sandbox.getDisplayUrl({ share: true })).toContain('password=word-of-the-screen')
  }),
)

test('a sandbox of the cloud is saved with its memory, and what the cloud cannot do is refused', async () => {
  const { cloud: fake } = configuredCloud()
  await using sandbox = await Sandbox.ephemeral(image, { name: 'saved' })
  const snapshot = await sandbox.snapshot({ name: 'before' })
  expect(fake.requests.find(({ path }) => path.endsWith('/snapshot'))?.body).toEqual({ name: 'before', stateful: true })
  expect(snapshot).toMatchObject({
    id: 'snapshot-of-saved',
    name: 'before',
    sizeBytes: 4096,
    sandbox: 'saved',
    memory: true,
  })
  const refused = [
    () => sandbox.fork(2),
    () => sandbox.restore(snapshot),
    () => snapshot.delete(),
    () => Sandbox.create(snapshot, cloud),
    () => Sandbox.create(image, { labels: { a: 'b' } }),
    () => Sandbox.create(image, { network: 'none' }),
    () => Sandbox.create(image, { mounts: [{ hostPath: '/tmp', path: '/x' }] }),
  ]
  for (const call of refused) expect((await errorOf(call()))?.code).toBe('unsupported')
  expect(asked(fake, 'POST').filter((each) => each === 'POST /v1/vms')).toHaveLength(1)
})

test('only what asks, and what the cloud says it did not do, is sent again', async () => {
  const { cloud: fake } = configuredCloud()
  await (await Sandbox.create(image, { name: 'steady' })).disconnect()
  const count = (each: string) => asked(fake).filter((request) => request === each).length
  const lost = () => Response.json({ message: 'bad gateway' }, { status: 502 })

  let before = count('GET /v1/vms')
  fake.answerWith('GET', '/v1/vms', lost, lost)
  expect(await Sandbox.list()).toHaveLength(1)
  expect(count('GET /v1/vms') - before).toBe(3)

  before = count('GET /v1/vms')
  fake.answerWith('GET', '/v1/vms', lost, lost, lost)
  expect((await errorOf(Promise.resolve(Sandbox.list())))?.code).toBe('unreachable')
  expect(count('GET /v1/vms') - before).toBe(3)

  fake.answerWith('DELETE', '/v1/vms/steady', lost)
  expect((await errorOf(Sandbox.delete('steady')))?.code).toBe('unreachable')
  expect(count('DELETE /v1/vms/steady')).toBe(1)

  const busy = (after?: string) => () =>
    Response.json({}, { status: 429, headers: after === undefined ? {} : { 'Retry-After': after } })
  fake.answerWith('DELETE', '/v1/vms/steady', busy())
  expect((await errorOf(Sandbox.delete('steady')))?.code).toBe('rate_limited')
  expect(count('DELETE /v1/vms/steady')).toBe(2)
  fake.answerWith('DELETE', '/v1/vms/steady', busy('3600'))
  expect(await errorOf(Sandbox.delete('steady'))).toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 })
  expect(count('DELETE /v1/vms/steady')).toBe(3)
  fake.answerWith('DELETE', '/v1/vms/steady', busy('0'))
  await Sandbox.delete('steady')
  expect(count('DELETE /v1/vms/steady')).toBe(5)
})

test('what a cloud refuses or answers wrongly is told by its code, without the key', async () => {
  const { cloud: fake } = configuredCloud()
  const cases: [() => Response, string][] = [
    [() => Response.json({ message: `the key ${key} is old` }, { status: 401 }), 'unauthorized'],
    [() => Response.json({ message: 'pay' }, { status: 402 }), 'quota_exceeded'],
    [() => Response.json({ detail: 'what?' }, { status: 400 }), 'invalid_argument'],
    [() => new Response('<html>', { status: 200 }), 'invalid_response'],
    [() => Response.json({ vms: [{ status: 'running' }] }), 'invalid_response'],
    [() => new Response(null, { status: 302, headers: { Location: 'http://elsewhere.example/' } }), 'invalid_response'],
    [() => Response.json({ message: key }, { status: 500 }), 'invalid_response'],
  ]
  for (const [answer, code] of cases) {
    fake.answerWith('GET', '/v1/vms', answer)
    const error = await errorOf(Promise.resolve(Sandbox.list(cloud)))
    expect(error?.code).toBe(code)
    expect(`${error?.message} ${JSON.stringify(error?.data)} ${Bun.inspect(error)}`).not.toContain(key)
  }
})

test('the state that this machine keeps of the cloud has no key in it', async () => {
  const { home } = configuredCloud()
  await using _sandbox = await Sandbox.ephemeral(image, { name: 'noted' })
  const files = readdirSync(home.folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const states = files.filter(({ parentPath }) => parentPath.includes('/state/'))
  expect(states.map(({ name }) => name)).toContain('noted.json')
  for (const { parentPath, name } of states) expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain(key)
})

test('what a killed program held in the cloud is deleted by the next one, unless its name has another VM now', async () => {
  const { cloud: fake, home } = configuredCloud()
  const script = `
    import { configure, Image, Sandbox } from '@backlot/sdk'
    configure({ apiKey: '${key}', baseUrl: '${fake.url}' })
    for (const name of ['left', 'renewed']) await Sandbox.ephemeral(Image.desktop(), { name })
    console.log('held')
    await new Promise((wake) => setTimeout(wake, 60_000))`
  const holder = Bun.spawn([process.execPath, '-e', script], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env, BACKLOT_HOME: home.folder },
    stdout: 'pipe',
  })
  await holder.stdout.getReader().read()
  expect((await Sandbox.list()).map(({ name, ephemeral }) => [name, ephemeral])).toEqual([
    ['renewed', true],
    ['left', true],
  ])
  holder.kill('SIGKILL')
  await holder.exited
  // Somebody else made that name anew, without this package.
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  await fetch(`${fake.url}/v1/vms/renewed`, { method: 'DELETE', headers })
  await fetch(`${fake.url}/v1/vms`, { method: 'POST', headers, body: '{"name":"renewed","os":"linux"}' })
  expect((await Sandbox.list()).map(({ name, ephemeral }) => [name, ephemeral])).toEqual([['renewed', false]])
  expect(asked(fake, 'DELETE')).toEqual(['DELETE /v1/vms/renewed', 'DELETE /v1/vms/left'])
})

/** A program that makes a sandbox of a name, and is killed once the cloud has answered its first request of that method. */
const killedAt = async ({ cloud: fake, home }: ReturnType<typeof configuredCloud>, method: string, options: string) => {
  const script = `
    import { configure, Image, Sandbox } from '@backlot/sdk'
    configure({ apiKey: '${key}', baseUrl: '${fake.url}' })
    const { fetch } = globalThis
    globalThis.fetch = async (address, init) => {
      const answer = await fetch(address, init)
      if (init?.method === '${method}' && !String(address).endsWith('/vms') === ${method === 'GET'}) process.kill(process.pid, 'SIGKILL')
      return answer
    }
    await Sandbox.create(Image.desktop(), ${options})`
  const killed = Bun.spawn([process.execPath, '-e', script], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env, BACKLOT_HOME: home.folder },
  })
  await killed.exited
  expect(killed.signalCode).toBe('SIGKILL')
}

test('a VM whose program was killed before it heard of it is deleted by the next one', async () => {
  const made = configuredCloud()
  const { cloud: fake, home } = made
  for (const options of [`{ name: 'orphan' }`, `{ name: 'orphan', ttlMs: 600_000 }`]) {
    await killedAt(made, 'POST', options)
    expect(fake.pidOf('orphan')).toBeDefined()
    expect(await Sandbox.list()).toEqual([])
    expect(fake.pidOf('orphan')).toBeUndefined()
  }
  await killedAt(made, 'POST', `{ name: 'orphan' }`)
  await using sandbox = await Sandbox.create(image, { name: 'orphan' })
  expect((await sandbox.shell.run('echo anew')).stdout).toBe('anew\n')
  // Of one that stays and can be used nothing is kept here.
  const files = readdirSync(join(home.states, 'cloud'), { recursive: true }).map(String)
  expect(files.filter((file) => file.endsWith('.json'))).toEqual([])
})

test('a VM of others outlives a program that was killed as it wanted its name', async () => {
  const made = configuredCloud()
  const { cloud: fake } = made
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  await fetch(`${fake.url}/v1/vms`, { method: 'POST', headers, body: '{"name":"theirs","os":"linux"}' })
  await killedAt(made, 'GET', `{ name: 'theirs' }`)
  expect((await errorOf(Sandbox.ephemeral(image, { name: 'theirs' })))?.code).toBe('sandbox_exists')
  expect((await Sandbox.list()).map(({ name, ephemeral }) => [name, ephemeral])).toEqual([['theirs', false]])
  expect(asked(fake, 'DELETE')).toEqual([])
})

test('what is kept of a VM that is gone says nothing of the one that has its name now', async () => {
  const { cloud: fake } = configuredCloud()
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  {
    await using before = await Sandbox.ephemeral(image, { name: 'renewed', ttlMs: 600_000 })
    await fetch(`${fake.url}/v1/vms/renewed`, { method: 'DELETE', headers })
    await fetch(`${fake.url}/v1/vms`, { method: 'POST', headers, body: '{"name":"renewed","os":"linux"}' })
    expect(await Sandbox.getInfo('renewed')).toMatchObject({ ephemeral: false, expiresAt: null })
    await using now = await Sandbox.connect('renewed')
    for (const call of [() => before.keep(), () => before.setTtl(50)]) {
      expect((await errorOf(call()))?.code).toBe('sandbox_not_found')
    }
    await now.setTtl(600_000)
    expect(await now.getInfo()).toMatchObject({ ephemeral: false, expiresAt: expect.any(String) })
    expect((await errorOf(before.keep()))?.code).toBe('sandbox_not_found')
  }
  expect(await Sandbox.getInfo('renewed')).toMatchObject({ ephemeral: false, status: 'running' })
})

test('a VM that cannot be deleted after it failed is deleted by whoever looks later', async () => {
  const made = configuredCloud()
  const { cloud: fake } = made
  const refused = () => Response.json({ message: 'not now' }, { status: 500 })
  fake.answerWith('DELETE', '/v1/vms/stuck', refused)
  const script = `
    import { configure, Image, Sandbox } from '@backlot/sdk'
    configure({ apiKey: '${key}', baseUrl: '${fake.url}' })
    await Sandbox.create(Image.desktop(), { name: 'stuck', timeoutMs: 1 }).catch(() => undefined)
    const cancel = new AbortController()
    const { fetch } = globalThis
    globalThis.fetch = async (address, init) => {
      const answer = await fetch(address, init)
      if (init?.method === 'POST') cancel.abort(new Error('enough'))
      return answer
    }
    await Sandbox.create(Image.desktop(), { name: 'stuck', signal: cancel.signal }).catch(() => undefined)`
  const child = Bun.spawn([process.execPath, '-e', script], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env, BACKLOT_HOME: made.home.folder },
  })
  expect(await child.exited).toBe(0)
  expect(asked(fake, 'DELETE')).toEqual(['DELETE /v1/vms/stuck'])
  expect(fake.pidOf('stuck')).toBeDefined()
  expect(await Sandbox.list()).toEqual([])
  expect(fake.pidOf('stuck')).toBeUndefined()
})
