import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { create } from '../support/vms.ts'

let host: VmHost
let env: Record<string, string>

beforeAll(async () => {
  host = await startVmHost()
  await create(host, 'named')
  await create(host, 'aside', { storage: join(host.home, 'elsewhere') })
  // A shell that a person uses finds the program on its PATH, and nothing of this machine's own settings.
  const bin = join(host.home, 'bin')
  await mkdir(bin)
  const program = backlotCommand()
    .map((word) => `'${word}'`)
    .join(' ')
  await writeFile(join(bin, 'backlot'), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 })
  await writeFile(join(host.home, 'disc of mine.iso'), '')
  env = {
    ...{ BACKLOT_HOST_URL: host.url, BACKLOT_HOME: host.home, HOME: host.home, TERM: 'dumb' },
    ...{ XDG_CONFIG_HOME: join(host.home, 'xdg'), XDG_DATA_HOME: join(host.home, 'xdg') },
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  }
})

afterAll(() => host[Symbol.asyncDispose]())

/** What a program writes, line by line, in the folder of the host's home. */
const lines = async (...command: [string, ...string[]]): Promise<string[]> => {
  const child = Bun.spawn(command, {
    ...{ env: { ...process.env, ...env }, cwd: host.home },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect([child.exitCode, stderr]).toEqual([0, ''])
  return stdout.split('\n').slice(0, -1)
}

const candidates = async (...words: string[]): Promise<string[]> =>
  (await runBacklot(['completion', 'words', '--', ...words], env)).stdout.split('\n').filter((word) => word !== '')

test('words, options and their values come from what is declared', async () => {
  const expected: [string[], string[]][] = [
    [['v'], ['vm']],
    [['vm', 'cl'], ['clone']],
    [['vm', 'create', 'x', '--disk'], ['--disk-size']],
    [
      ['vm', 'create', 'x', '--network', ''],
      ['nat', 'none'],
    ],
    [['vm', 'create', 'x', '--network', 'nat', '--os', 'l'], ['linux']],
    [
      ['host', 'config', 'locations', ''],
      ['add', 'default', 'remove'],
    ],
    [
      ['image', 'build', ''],
      ['linux-desktop', 'linux-minimal'],
    ],
    [['image', 'ls', '--out'], ['--output']],
    [['get_desk'], ['get_desktop_state']],
    [['nothing', ''], []],
  ]
  for (const [words, found] of expected) expect([words, await candidates(...words)]).toEqual([words, found])
})

test('names of VMs and locations come from the service, also behind options', async () => {
  const expected: [string[], string[]][] = [
    [['vm', 'stop', ''], ['named']],
    [['vm', 'run', '--no-display', '--share', '/tmp', 'na'], ['named']],
    [['vm', 'set', '--storage', join(host.home, 'elsewhere'), ''], ['aside']],
    [['vm', 'clone', 'named', '--dest-location', ''], ['home']],
    [['host', 'config', 'locations', 'default', ''], ['home']],
    [['vm', 'create', ''], []],
  ]
  for (const [words, found] of expected) expect([words, await candidates(...words)]).toEqual([words, found])
})

test('without a service names are left out, and nothing is said', async () => {
  const call = await runBacklot(['completion', 'words', '--', 'vm', 'stop', ''], {
    BACKLOT_HOST_URL: 'http://127.0.0.1:1',
  })
  expect([call.status, call.stdout, call.stderr]).toEqual([0, '', ''])
})

test('bash completes through the script that it is given, called by a path from the home folder too', async () => {
  const script = `source <(backlot completion bash)
complete -p backlot backlot-driver >/dev/null || exit
for line in 'backlot vm stop na' '~/bin/backlot vm cl' 'backlot vm create x --iso disc'; do
  read -ra COMP_WORDS <<<"$line"; COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _backlot; echo "\${COMPREPLY[*]}"
done`
  expect(await lines('bash', '--norc', '-c', script)).toEqual(['named', 'clone', ''])
})

test.skipIf(Bun.which('zsh') === null)('an interactive zsh completes words, options, names and files', async () => {
  const script = join(import.meta.dir, '../support/fixtures/zsh_completion.zsh')
  const typed = [
    ...['backlot v', 'backlot vm cl', 'backlot vm create x --disk', 'backlot vm stop ', '~/bin/backlot vm stop n'],
    ...['backlot vm create x --iso disc', 'backlot nothing '],
  ]
  expect(await lines('zsh', '-f', script, ...typed)).toEqual([
    ...['backlot vm ', 'backlot vm clone ', 'backlot vm create x --disk-size ', 'backlot vm stop named '],
    ...['~/bin/backlot vm stop named ', 'backlot vm create x --iso disc\\ of\\ mine.iso ', 'backlot nothing '],
  ])
})

test.skipIf(Bun.which('fish') === null)('fish completes words, options, names and files', async () => {
  const fish = (line: string) =>
    lines('fish', '--no-config', '-c', `backlot completion fish | source; complete -C '${line}'`)
  expect(await fish('backlot vm ')).toEqual(
    expect.arrayContaining(['clone', 'console', 'create', 'exec', 'get', 'ls', 'run', 'set', 'stop']),
  )
  expect(await fish('backlot vm create x --disk')).toEqual(['--disk-size'])
  expect(await fish('backlot vm stop ')).toEqual(['named'])
  expect(await fish('~/bin/backlot vm stop n')).toEqual(['named'])
  expect(await fish('backlot vm create x --iso disc')).toEqual([expect.stringContaining('disc of mine.iso')])
})
