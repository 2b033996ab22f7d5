/** The runtime `container` on a real engine, with a small image that has a computer server and no desktop. */
import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { hasLandlock } from '@backlot/native'
import { backlotCommand } from '../support/backlot.ts'
import { startSmallDocker } from '../support/docker.ts'
import { machinePrograms } from '../support/machine-container.ts'
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

/** What is tried in a container that is started with no word about its rights. */
const inside = `
export HOME=/home/agent
cd
grep Seccomp: /proc/self/status | tr '\\t' ' '
unshare --user true 2>/dev/null || echo no namespaces
backlot local start --isolation landlock --name one >/dev/null && echo started
backlot sandbox shell one -- 'cat /etc/shadow 2>&1; kill -0 1 2>&1 | head -1; grep CapEff /proc/self/status | tr "\\t" " "; echo kept >note; cat note'
backlot sandbox screenshot one one.png && head -c 4 one.png | tail -c 3; echo
backlot local delete one
pgrep -f 'forwarded-[p]ort|[-]rfbport'; ls -A .local/state/backlot/local; ls -d /tmp/backlot-l-* /tmp/.X*-lock /tmp/.X11-unix/* 2>/dev/null
echo over`

test.skipIf(docker === undefined || !hasLandlock())(
  'in a default container Landlock parts a desktop from it, which leaves nothing when it is deleted',
  async () => {
    const words = ['run', '--rm', '--entrypoint', 'bash', ...machinePrograms(), docker?.base ?? '']
    const { stdout, stderr } = (await docker?.run(...words, '-c', inside)) ?? { stdout: '', stderr: '' }
    expect([stdout.split('\n'), stderr]).toEqual([
      [
        'Seccomp: 2',
        'no namespaces',
        'started',
        'cat: /etc/shadow: Permission denied',
        expect.stringContaining('Operation not permitted'),
        'CapEff: 0000000000000000',
        'kept',
        'PNG',
        '{"name":"one"}',
        'over',
        '',
      ],
      'Written to one.png\n',
    ])
  },
)
