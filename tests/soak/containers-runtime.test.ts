import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Docker, startDocker } from '../support/docker.ts'
import { proving } from '../support/proves.ts'
import { limitMs } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(120_000))

const started = await startDocker()
const docker = typeof started === 'string' ? undefined : (started as Docker)
if (docker === undefined) console.log(`skipped: ${String(started)}`)
const engineTest = test.skipIf(docker === undefined)

const folder = mkdtempSync(join(tmpdir(), 'containers-'))
const given = join(folder, 'given')
const program = join(import.meta.dir, '../support/fixtures/container-program.ts')

/** Starts the program that has sandboxes, where the engine's ports are. */
const start = (words: readonly string[], home = 'home') =>
  Bun.spawn([...(docker?.inside ?? []), process.execPath, program, ...words], {
    env: {
      ...process.env,
      DOCKER_HOST: docker?.host ?? '',
      BACKLOT_HOME: join(folder, home),
      BACKLOT_BIN: process.env.BACKLOT_BIN || join(import.meta.dir, '../../dist/backlot'),
      MOUNTED: given,
      PICTURE: join(folder, 'picture.png'),
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

// biome-ignore lint/suspicious/noExplicitAny: each case prints what it saw.
const see = async (words: readonly string[], home?: string): Promise<any> => {
  const child = start(words, home)
  const [out, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (status !== 0) throw new Error(`${words.join(' ')}: ${errors}`)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '')
}

const ask = async (...words: string[]): Promise<string> => (await docker?.ask(...words)) ?? ''

/** The containers that the engine has, by `docker` itself. */
const containers = async (): Promise<string[]> =>
  (await ask('ps', '--all', '--format', '{{.Names}}')).split('\n').filter((each) => each !== '')
const containerOf = async (name: string): Promise<string> =>
  (await containers()).find((each) => each.endsWith(`-${name}`)) ?? `no container of ${name}`

beforeAll(async () => {
  if (docker === undefined) return
  await Bun.write(join(given, 'file'), 'given\n')
}, 60_000)

afterAll(async () => {
  await docker?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

engineTest(
  'one is created of the recipe that the package holds, with its limits, and reached on 127.0.0.1 alone',
  async () => {
    const { phases, info } = await see(['create', 'one'])
    expect(phases).toEqual(['download', 'boot'])
    expect(info).toMatchObject({ name: 'one', status: 'running', source: 'container', isolation: 'container' })
    const [inspected] = JSON.parse(await ask('inspect', await containerOf('one')))
    expect(inspected.HostConfig).toMatchObject({ NanoCpus: 1e9, Memory: 900 * 1_048_576 })
    const bindings = Object.values(inspected.NetworkSettings.Ports).flat() as { HostIp: string }[]
    expect(bindings.map(({ HostIp }) => HostIp)).toEqual(['127.0.0.1', '127.0.0.1'])
    const { api_key: key } = await Bun.file(join(folder, 'home/state/sandboxes/keys/one.json')).json()
    expect(key.length).toBeGreaterThan(30)
    expect(JSON.stringify(inspected)).not.toContain(key)
    const inside = await ask('exec', inspected.Id, 'cat', '/run/secrets/backlot_computer_key')
    expect(inside).toBe(key)
  },
  limitMs(420_000),
)

engineTest('its interfaces act in it', async () => {
  const seen = await see(['use', 'one'])
  expect(seen).toMatchObject({ size: { width: 1280, height: 800 }, cursor: { x: 40, y: 50 }, clipboard: true })
  expect(seen.mounted).toMatchObject({ stdout: 'given\nagent\n', exitCode: 0 })
  expect(seen.mounted.stderr).toContain('Read-only')
  expect(await ask('exec', await containerOf('one'), 'cat', '/home/agent/text')).toContain('$(touch /tmp/owned)')
  expect(Buffer.from(await Bun.file(join(folder, 'picture.png')).arrayBuffer()).toString('latin1', 1, 4)).toBe('PNG')
  expect((await see(['logs', 'one'])).join('\n')).toContain('GET /status')
})

engineTest('the console of the VM host shows it in a browser, with its live screen', async () => {
  const { row, width, faults } = await see(['console', 'one'])
  expect(row).toMatch(/^one\s+running\s+container$/)
  expect([width, faults]).toEqual([1280, []])
})

engineTest(
  'it is suspended, resumed and restarted, and keeps its files',
  proving(['sandbox.state.suspended.container'], async () => {
    const state = async () => ask('inspect', '--format', '{{.State.Status}}', await containerOf('one'))
    expect(await see(['suspend', 'one'])).toEqual([{ name: 'one', status: 'suspended' }])
    expect(await state()).toBe('paused')
    expect(await see(['resume', 'one'])).toEqual({ isSame: true })
    expect(await state()).toBe('running')
    expect(await see(['restart', 'one'])).toEqual({ stdout: 'up\n' })
    // One that the engine's end stopped is started again, on whatever ports it then has.
    await ask('stop', await containerOf('one'))
    expect(await see(['list'])).toMatchObject([{ name: 'one', status: 'stopped' }])
    expect(await see(['resume', 'one'])).toEqual({ isSame: true })
  }),
)

engineTest('its files are saved, started anew and put back', async () => {
  const seen = await see(['snapshot', 'one'])
  expect(seen).toMatchObject({ refused: { code: 'unsupported' }, ofCopy: true, restored: true, left: 0 })
  expect(seen.listed).toEqual([{ name: 'first', sandbox: 'one' }])
  expect(await containers()).toHaveLength(1)
})

engineTest('what was killed while it put files back is ended by the next look: forward, or back', async () => {
  // Each bears the labels of a program that has ended, under the name that a container has until it replaces another.
  const [name, aside] = [await containerOf('one'), `${await containerOf('one')}-restored-00112233`]
  await ask('rename', name, aside)
  expect(await see(['list'])).toMatchObject([{ name: 'one', status: 'stopped' }])
  expect(await containers()).toEqual([name])
  expect(await see(['resume', 'one'])).toEqual({ isSame: true })
  const [{ Config }] = JSON.parse(await ask('inspect', name)) as [{ Config: { Labels: Record<string, string> } }]
  const labels = Object.entries(Config.Labels).flatMap(([key, value]) => ['--label', `${key}=${value}`])
  await ask('create', '--name', aside, ...labels, 'base', 'true')
  expect(await see(['list'])).toMatchObject([{ name: 'one', status: 'running' }])
  expect(await containers()).toEqual([name])
  // Its name is looked for before anything else lists.
  await ask('rename', name, aside)
  expect(await see(['resume', 'one'])).toEqual({ isSame: true })
})

engineTest('layers are built once as root, with values as they are; one that fails leaves nothing', async () => {
  const { first, second, hostile, built, failed } = await see(['layers', given])
  expect(first).toBe(`${hostile}given\n${hostile}`)
  expect(second).toBe(first)
  expect(built).toEqual([0])
  expect(failed).toMatchObject({ code: 'layer_failed' })
  expect(failed.message).toContain('Layer 2 (run) ended with 7: broken line')
  expect(await containers()).toHaveLength(1)
  const made = await ask('images', '--format', '{{.ID}}', 'backlot-layers')
  expect(made.split('\n')).toHaveLength(1)
  // The key of the build stays in no image.
  const left = ['run', '--rm', '--entrypoint', 'ls', made, '-A', '/run/secrets']
  expect(await ask(...left)).toBe('')
})

engineTest('what it cannot do is refused, and leaves nothing', async () => {
  const refused = (await see(['refused', 'two'])) as { code: string; message: string }[]
  expect(refused.map(({ code }) => code)).toEqual([
    'unsupported',
    'unsupported',
    'unsupported',
    'image_not_found',
    'invalid_argument',
  ])
  expect(refused.at(-1)?.message).toContain('/no/such/folder')
  expect(await containers()).toHaveLength(1)
})

engineTest('two programs create one name: one gets it; another home has names of its own', async () => {
  const both = await Promise.allSettled([see(['create', 'three']), see(['create', 'three'])])
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const refused = both.find((each) => each.status === 'rejected')
  expect(String(refused?.reason)).toContain('sandbox_exists')
  await see(['create', 'three'], 'other-home')
  expect((await containers()).filter((each) => each.endsWith('-three'))).toHaveLength(2)
  expect(await see(['list'], 'other-home')).toMatchObject([{ name: 'three' }])
  await see(['remove', 'three'], 'other-home')
  expect((await containers()).filter((each) => each.endsWith('-three'))).toHaveLength(1)
  await see(['remove', 'three'])
})

engineTest('a container of somebody else is not touched, whatever its name', async () => {
  const name = (await containerOf('one')).replace(/one$/, 'four')
  await ask('run', '--detach', '--name', name, 'base', 'sleep', '600')
  await expect(see(['create', 'four'])).rejects.toThrow(/sandbox_exists/)
  expect(await ask('inspect', '--format', '{{.State.Status}}', name)).toBe('running')
  expect(await see(['list'])).toMatchObject([{ name: 'one' }])
  await ask('rm', '--force', name)
})

engineTest('the next program ends what a killed one held or was starting', async () => {
  for (const isReady of [true, false]) {
    const child = start(['hold', 'held'])
    if (isReady) await child.stdout.getReader().read()
    else await until('the container', async () => (await containers()).some((each) => each.endsWith('-held')))
    child.kill('SIGKILL')
    await child.exited
    expect(await containers()).toHaveLength(2)
    expect(await see(['list'])).toMatchObject([{ name: 'one' }])
    expect(await containers()).toHaveLength(1)
  }
  const building = start(['build', 'never'])
  await until('the build', async () => (await containers()).some((each) => each.startsWith('backlot-build-')))
  building.kill('SIGKILL')
  await building.exited
  expect(await see(['list'])).toMatchObject([{ name: 'one' }])
  expect(await containers()).toHaveLength(1)
})

engineTest('it is deleted, and nothing is left', async () => {
  await see(['remove', 'one'])
  expect(await containers()).toEqual([])
  expect(await ask('volume', 'ls', '--quiet')).toBe('')
})
