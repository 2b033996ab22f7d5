/** The runtime `container` on a real engine, with a small image that has a computer server and no desktop. */
import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { backlotCommand } from '../support/backlot.ts'
import { startSmallDocker } from '../support/docker.ts'
import { proving } from '../support/proves.ts'

const folder = mkdtempSync(join(tmpdir(), 'container-'))
const image = join(folder, 'image')
const program = join(import.meta.dir, '../support/fixtures/container-program.ts')

/** The executable, a shell and the libraries of all of it, as files of an image. */
const makeImage = (): void => {
  const [executable = ''] = backlotCommand()
  const files: readonly (readonly [from: string, to: string])[] = [
    [executable, 'usr/bin/backlot'],
    ...['sh', 'cat'].map((name) => [Bun.which(name) ?? name, `bin/${name}`] as const),
  ]
  // The native core unpacks itself when the executable starts.
  const native = [...new Bun.Glob('*.node').scanSync({ cwd: join(import.meta.dir, '../../ts/native'), absolute: true })]
  const linked = Bun.spawnSync(['ldd', ...files.map(([from]) => from), ...native]).stdout.toString()
  const libraries = new Set([...linked.matchAll(/(\/lib\S+) \(0x/g)].map(([, path = '']) => path))
  for (const [from, to] of [...files, ...[...libraries].map((path) => [path, path] as const)]) {
    mkdirSync(join(image, dirname(to)), { recursive: true })
    cpSync(from, join(image, to), { dereference: true })
  }
  for (const empty of ['home/agent', 'run/secrets', 'tmp']) mkdirSync(join(image, empty), { recursive: true })
}

const key = '/run/secrets/backlot_computer_key'
const words = ['backlot', 'computer', '--host', '0.0.0.0', '--port', '8000', '--name', 'localhost', '--key-file', key]
makeImage()
const started = await startSmallDocker(image, `ENTRYPOINT ${JSON.stringify(words)}`, 'ENV HOME=/home/agent')
const docker = typeof started === 'string' ? undefined : started
if (docker === undefined) console.log(`skipped: ${String(started)}`)

afterAll(async () => {
  await docker?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** What a program of its own sees, where the engine's ports are. */
const see = async (...given: string[]): Promise<unknown> => {
  const child = Bun.spawn([...(docker?.inside ?? []), process.execPath, program, ...given], {
    env: {
      ...process.env,
      DOCKER_HOST: docker?.host ?? '',
      BACKLOT_HOME: join(folder, 'home'),
      IMAGE: docker?.base,
      MOUNTED: image,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (status !== 0) throw new Error(`${given.join(' ')}: ${errors}`)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '')
}

test.skipIf(docker === undefined)(
  'a sandbox is a container: paused while it is suspended, listed with those of this machine, and gone when deleted',
  proving(['sandbox.state.suspended.container'], async () => {
    const states = async () => (await docker?.ask('ps', '--all', '--format', '{{.State}}')) ?? ''
    const source = 'container'
    expect(await see('create', 'one')).toMatchObject({ info: { name: 'one', status: 'running', source } })
    expect(await states()).toBe('running')
    await see('write', 'one')
    expect(await see('suspend', 'one')).toEqual([{ name: 'one', status: 'suspended' }])
    expect(await states()).toBe('paused')
    expect(await see('local')).toEqual([{ name: 'one', status: 'suspended', source }])
    expect(await see('resume', 'one')).toEqual({ isSame: true })
    expect(await states()).toBe('running')
    expect(await see('restart', 'one')).toEqual({ stdout: 'up\n' })
    await see('remove', 'one')
    expect([await states(), await see('local')]).toEqual(['', []])
  }),
)
