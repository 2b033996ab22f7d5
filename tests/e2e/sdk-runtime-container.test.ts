import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { BacklotError, Image, runtimes, Sandbox } from '@backlot/sdk'
import { runBacklot } from '../support/backlot.ts'
import { sandboxHome } from '../support/sandbox-home.ts'

const image = Image.linux({ distro: 'debian', version: '12' })

const failureOf = async (work: Promise<unknown>) => {
  try {
    await work
  } catch (error) {
    if (BacklotError.is(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}

const reasonOf = async (host?: string): Promise<string> => {
  const check = await runtimes.container(host === undefined ? {} : { host }).check()
  if (check.available) throw new Error('an engine answers')
  return `${check.reason} ${check.remedy}`
}

/** Sets variables for the length of a call. */
const withVariables = async <T>(variables: Record<string, string>, work: () => Promise<T>): Promise<T> => {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  try {
    return await work()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

test('without an engine a sandbox is refused, and the sockets that were tried are named', async () => {
  const { folder } = sandboxHome()
  const host = `unix://${folder}/no-engine`
  const error = await failureOf(Sandbox.create(image, { runtime: runtimes.container({ host }), name: 'desk' }))
  expect(error.code).toBe('runtime_unavailable')
  expect(error.message).toContain(`"${host}" is not there`)
  expect(error.message).toContain('DOCKER_HOST')
  expect(await Sandbox.list({ runtime: 'local' }).then((all) => all.map(({ name }) => name))).not.toContain('desk')
})

test('an engine is named by DOCKER_HOST, and one that this machine cannot reach on its loopback is not used', async () => {
  const { folder } = sandboxHome()
  const named = `unix://${folder}/named`
  expect(await withVariables({ DOCKER_HOST: named }, () => reasonOf())).toContain(`"${named}" is not there`)
  expect(await reasonOf('ssh://somewhere')).toContain('"ssh://somewhere" is neither unix://PATH nor')
})

test("docker's current context names it where DOCKER_HOST does not", async () => {
  const { folder } = sandboxHome()
  const name = 'work'
  const key = createHash('sha256').update(name).digest('hex')
  const meta = join(folder, 'contexts/meta', key, 'meta.json')
  mkdirSync(dirname(meta), { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ currentContext: name }))
  writeFileSync(meta, JSON.stringify({ Name: name, Endpoints: { docker: { Host: `unix://${folder}/of-context` } } }))
  const variables = { DOCKER_CONFIG: folder, DOCKER_HOST: '', DOCKER_CONTEXT: '' }
  expect(await withVariables(variables, () => reasonOf())).toContain('/of-context" is not there')
})

test('one that takes connections and says nothing is given up', async () => {
  const { folder } = sandboxHome()
  const path = join(folder, 'silent')
  const server = createServer(() => undefined)
  await new Promise<void>((settle) => server.listen(path, settle))
  try {
    expect(await reasonOf(`unix://${path}`)).toContain('gives no answer in 3000 ms')
  } finally {
    server.close()
  }
})

test('Podman is told apart from Docker, and said to be planned', async () => {
  const { folder } = sandboxHome()
  const unix = join(folder, 'podman.sock')
  using _ = Bun.serve({ unix, fetch: () => new Response('OK', { headers: { Server: 'Libpod/4.3.1 (linux)' } }) })
  const host = `unix://${unix}`
  expect(await reasonOf(host)).toContain(`"${host}" is Podman, which is planned`)
  const { stdout } = await runBacklot(['doctor', '--json'], { DOCKER_HOST: host })
  expect(stdout).toContain('is Podman, which is planned')
  const error = await failureOf(Sandbox.create(image, { runtime: runtimes.container({ host }), name: 'desk' }))
  expect([error.code, error.message.includes('Podman, which is planned')]).toEqual(['runtime_unavailable', true])
})

test('it declares all that it does, and refuses the rest for a reason', async () => {
  const runtime = runtimes.container()
  // A row that declares less fails here.
  expect(runtime.features).toMatchObject({
    os: ['linux'],
    kinds: ['container'],
    isolation: 'container',
    suspend: 'frozen',
    snapshot: 'disk',
    display: true,
    tunnel: true,
    mounts: true,
    network: ['internet'],
    resources: ['cpu', 'memoryMb'],
  })
  expect((await failureOf(runtime.fork('desk', ['copy']))).message).toContain('use `snapshot`')
  expect((await failureOf(runtime.claim('pool', 'desk'))).message).toContain('keeps no pools')
})
