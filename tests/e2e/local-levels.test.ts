import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refusalOf } from '../../ts/local/isolation/levels.ts'
import { backlotCommand } from '../support/backlot.ts'
import { askInside, callers, homeOf, type Info, shellInside, type TestHome } from '../support/local.ts'
import { until } from '../support/until.ts'

interface Level {
  readonly level: string
  readonly works: boolean
  readonly reason: string
  readonly remedy: string | null
}

const levelsIn = async (home: TestHome): Promise<Record<string, Level>> => {
  const { output } = await home.run('levels')
  const { levels } = output as { levels: Level[] }
  expect(levels.map(({ level }) => level)).toEqual(['own-root', 'host-programs', 'landlock', 'none'])
  return Object.fromEntries(levels.map((level) => [level.level, level]))
}

/** The finding of `backlot doctor` about sandboxes. */
const doctorOf = async (home: TestHome) => {
  const child = Bun.spawn(backlotCommand('doctor', '--json'), {
    env: home.environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { findings } = (await child.stdout.json()) as { findings: { id: string; state: string; mend: string | null }[] }
  return findings.find(({ id }) => id === 'sandboxes')
}

test.each(callers)('the programs of this machine are shown to sandboxes of %s', async (caller) => {
  await using home = homeOf(caller)
  expect((await levelsIn(home))['host-programs']).toMatchObject({ works: true, remedy: null })
  expect(await doctorOf(home)).toMatchObject({ state: 'works', mend: null })
  const { networks } = (await home.run('levels')).output as { networks: string[] }
  const isReached = (await home.run('start', '--network', 'internet')).status === 0
  expect(networks).toEqual(['none', 'loopback', ...(isReached ? ['internet'] : [])])
})

test('a kernel that gives no namespaces is found out, and what helps is told, also by a start', async () => {
  await using home = homeOf('user')
  // A user namespace in which no other may be made.
  const closed = [
    ...['unshare', '--user', '--map-current-user', '--keep-caps', 'sh', '-c'],
    'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --ambient-caps=-all -- "$@"',
    'sh',
  ]
  const [first = '', ...rest] = home.command('--json', 'start', '--network', 'loopback')
  const at = [first, ...rest].indexOf('--')
  const words = at === -1 ? [...closed, first, ...rest] : [first, ...rest.slice(0, at), ...closed, ...rest.slice(at)]
  const child = Bun.spawn(words, { env: home.environment, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const { error } = (await child.stdout.json()) as { error: Record<string, unknown> }
  expect(error).toMatchObject({ code: 'runtime_unavailable' })
  expect(error.message).toContain('max_user_namespaces')
  expect(error.message).toContain('--unsafe-no-isolation')
  expect((await home.ask('list')).sandboxes).toEqual([])
})

test('a missing program is named with its package', async () => {
  await using home = homeOf('user')
  const bare = join(home.folder, 'bin')
  mkdirSync(bare)
  home.environment.PATH = bare
  const level = (await levelsIn(home))['host-programs']
  expect(level).toMatchObject({ works: false, remedy: 'apt-get install bubblewrap' })
  expect(level?.reason).toContain('"bwrap"')
  expect((await home.run('start', '--network', 'loopback')).output).toMatchObject({
    error: { code: 'missing_program' },
  })
})

test('what AppArmor refuses is told from what containers refuse', async () => {
  // No machine of these tests has AppArmor: a fake bwrap says what the true one says there.
  await using home = homeOf('user')
  const fake = join(home.folder, 'bwrap')
  writeFileSync(fake, '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n')
  chmodSync(fake, 0o755)
  home.environment.PATH = `${home.folder}:${home.environment.PATH}`
  const level = (await levelsIn(home))['host-programs']
  expect(level?.reason).toContain('AppArmor')
  expect(level?.remedy).toContain('/etc/apparmor.d/bwrap')
  const { output } = await home.run('start', '--network', 'loopback')
  expect(output).toMatchObject({
    error: { code: 'runtime_unavailable', message: expect.stringContaining('apparmor_parser') },
  })
  expect(refusalOf("bwrap: Can't mount proc on /newroot/proc: Operation not permitted").remedy).toContain(
    'systempaths=unconfined',
  )
})

test('without isolation a desktop is started for who asks for it, named so, and ended whole', async () => {
  // The session bus wants a user with a name, as the tests' own one has.
  await using home = homeOf(callers[0])
  const bare = ['start', '--unsafe-no-isolation', '--name', 'bare']
  for (const words of [
    ['--network', 'none'],
    ['--mount', '/usr:/mnt/usr'],
    ['--disk-gb', '1'],
  ]) {
    expect((await home.run(...bare, ...words)).output).toMatchObject({ error: { code: 'unsupported' } })
  }
  const before = new Set(readdirSync('/tmp'))
  const info = (await home.ask(...bare, '--size', '800x600')) as Info
  expect(info).toMatchObject({
    isolation: 'none',
    network: 'internet',
    warnings: [expect.stringContaining('Nothing parts')],
  })
  expect(await askInside(info, 'get_screen_size')).toMatchObject({ size: { width: 800, height: 600 } })
  // It is on this machine, on a display of its own.
  expect(await shellInside(info, 'pwd; readlink /proc/self/ns/pid; echo kept >note')).toBe(
    `${join(home.sandboxes, 'bare/files/home')}\n${readlinkSync('/proc/self/ns/pid')}\n`,
  )
  const word = `4${process.pid}`
  await shellInside(info, `(setsid sh -c 'exec sleep ${word}' >/dev/null 2>&1 &)`)
  const sleeps = () =>
    Bun.spawnSync(['pgrep', '-f', `sleep ${word}`])
      .stdout.toString()
      .split('\n')
      .filter(Boolean)
  await until('the program to run', () => sleeps().length > 0)
  await home.ask('suspend', 'bare')
  expect(await home.ask('resume', 'bare')).toMatchObject({ status: 'running', isolation: 'none' })
  await home.ask('stop', 'bare')
  expect(sleeps()).toEqual([])
  const again = (await home.ask('resume', 'bare')) as Info
  expect(await shellInside(again, 'cat note')).toBe('kept\n')
  const { supervisor } = JSON.parse(readFileSync(join(home.sandboxes, 'bare/run.json'), 'utf8'))
  const servers = () => Bun.spawnSync(['pgrep', '-f', `forwarded-port ${again.api_port}`]).stdout.toString()
  expect(servers()).not.toBe('')
  process.kill(supervisor.pid, 'SIGKILL')
  await until('its server to end', () => servers() === '')
  await home.ask('delete', 'bare')
  const left = () => readdirSync('/tmp').filter((name) => !before.has(name) && !/^(bun-|\.bun|\.X11|\.ICE)/.test(name))
  await until('its files to be gone', () => left().length === 0).catch(() => undefined)
  expect(left()).toEqual([])
})
