import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import {
  askInside,
  callers,
  type EphemeralSandbox,
  homeOf,
  type Info,
  shellInside,
  type TestHome,
} from '../support/local.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

const patience = 60_000

const wordsOf = (pid: number | string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Pids of the living processes whose arguments hold a text. */
const processesWith = (text: string): string[] =>
  readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && wordsOf(entry).includes(text))

/** What the kernel has of the sandbox: its computer server is told by its port, which no other has. */
const tracesOf = ({ api_port }: Info): string[] => processesWith(`--forwarded-port ${api_port} `)

/** The processes in a sandbox that do not rest, as the kernel tells them from outside. */
const states = (info: Info): string[] =>
  tracesOf(info).map((pid) => /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '')

const statusOf = async (home: TestHome, name: string): Promise<unknown> => (await home.ask('info', name)).status

const codeOf = async (home: TestHome, ...words: string[]): Promise<unknown> => {
  const { output } = await home.run(...words)
  return (output as { error?: { code?: unknown } } | null)?.error?.code
}

describe.each(callers)('a sandbox of %s', (caller) => {
  test(
    'that was created outlives the program, is told of, stops, starts again with its files, and is deleted',
    proving(
      [
        'sandbox.runtime.start',
        'sandbox.runtime.list',
        'sandbox.runtime-info.host',
        'sandbox.runtime-info.api-port',
        'sandbox.runtime-info.guest-server-port',
      ],
      async () => {
        await using home = homeOf(caller)
        const info = await home.start('--name', 'kept', '--label', 'of=tests', '--size', '800x600')
        expect(info).toMatchObject({
          name: 'kept',
          host: '127.0.0.1',
          environment: 'linux',
          guest_server_port: 8000,
          isolation: 'host-programs',
          status: 'running',
          labels: { of: 'tests' },
          warnings: [],
        })
        expect(info.api_url).toBe(`http://127.0.0.1:${info.api_port}`)
        expect(await askInside(info, 'get_screen_size')).toMatchObject({ size: { width: 800, height: 600 } })
        expect(await shellInside(info, 'whoami; pwd; echo written >note')).toBe('user\n/home/user\n')
        const { sandboxes } = (await home.ask('list')) as { sandboxes: Info[] }
        expect(sandboxes.map(({ name, status, api_key }) => ({ name, status, api_key }))).toEqual([
          { name: 'kept', status: 'running', api_key: undefined as never },
        ])
        expect(await home.ask('stop', 'kept')).toMatchObject({ status: 'stopped', api_url: null })
        expect(tracesOf(info)).toEqual([])
        expect(await codeOf(home, 'suspend', 'kept')).toBe('sandbox_not_running')
        const again = (await home.ask('resume', 'kept')) as Info
        expect(await shellInside(again, 'cat note')).toBe('written\n')
        expect(await home.ask('delete', 'kept')).toEqual({ name: 'kept' })
        expect(tracesOf(again)).toEqual([])
        expect(readdirSync(home.sandboxes)).toEqual([])
        expect(await codeOf(home, 'info', 'kept')).toBe('sandbox_not_found')
      },
    ),
    patience,
  )

  test(
    'is suspended with all its programs where they are, and goes on',
    proving(['sandbox.runtime.suspend-resume'], async () => {
      await using home = homeOf(caller)
      const info = await home.start('--name', 'paused')
      await shellInside(info, `setsid sh -c 'while :; do date >beat; sleep 0.02; done' >/dev/null 2>&1 &`)
      const beat = join(home.sandboxes, 'paused/files/home/beat')
      await until('the program to work', () => existsSync(beat))
      expect(await home.ask('suspend', 'paused')).toMatchObject({ status: 'suspended' })
      expect(await statusOf(home, 'paused')).toBe('suspended')
      // What only looks after the others, and rests, may have been woken a moment ago.
      await until('nothing in it to run', () => !states(info).includes('R'))
      expect(new Set(states(info))).toEqual(new Set(['T', 'S']))
      const before = statSync(beat).mtimeMs
      // Of connections that there are nothing is heard until then.
      await expect(fetch(`${info.api_url}/status`, { keepalive: false })).rejects.toThrow()
      expect(statSync(beat).mtimeMs).toBe(before)
      const again = (await home.ask('resume', 'paused')) as Info
      expect(again).toMatchObject({ status: 'running', api_port: info.api_port })
      await until('the program to go on', () => statSync(beat).mtimeMs > before)
      expect(await shellInside(again, 'echo here')).toBe('here\n')
    }),
    patience,
  )

  test(
    'is suspended while a program waits in vfork for a child that does not begin',
    async () => {
      await using home = homeOf(caller)
      const info = await home.start('--name', 'between')
      // The child opens its input, for which nobody writes, before it becomes another program.
      const spawn = `os.posix_spawn("/bin/true", ["true"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 0, "pipe", os.O_RDONLY, 0)])`
      const program = `import os; os.mkfifo("pipe"); ${spawn}; open("begun", "w")`
      await shellInside(info, `setsid python3 -c '${program}' >/dev/null 2>&1 &`)
      await until('it to wait for its child', async () =>
        /^D.* python3/m.test(await shellInside(info, 'ps -eo stat,comm')),
      )
      expect(await home.ask('suspend', 'between')).toMatchObject({ status: 'suspended' })
      const again = (await home.ask('resume', 'between')) as Info
      await shellInside(again, 'echo >pipe')
      await until('the child to begin', () => existsSync(join(home.sandboxes, 'between/files/home/begun')))
    },
    patience,
  )

  test(
    'that is ephemeral ends with its program, however that ends',
    async () => {
      await using home = homeOf(caller)
      const ends: Record<string, (sandbox: EphemeralSandbox) => unknown> = {
        input: ({ owner }) => owner.stdin.end(),
        signal: ({ owner }) => owner.kill('SIGTERM'),
      }
      for (const end of Object.values(ends)) {
        const sandbox = await home.ephemeral()
        expect(existsSync(join(home.sandboxes, sandbox.info.name))).toBe(true)
        end(sandbox)
        expect(await sandbox.owner.exited).toBe(0)
        expect(tracesOf(sandbox.info)).toEqual([])
        expect(readdirSync(home.sandboxes)).toEqual([])
      }
    },
    patience,
  )

  test(
    'whose program is killed ends at once, and the next look removes it',
    async () => {
      await using home = homeOf(caller)
      const { info, owner } = await home.ephemeral('--name', 'orphan')
      await shellInside(info, 'setsid sleep 1000 >/dev/null 2>&1 &')
      owner.kill('SIGKILL')
      await owner.exited
      await until('its programs to end', () => tracesOf(info).length === 0)
      expect(existsSync(join(home.sandboxes, 'orphan'))).toBe(true)
      expect(await home.ask('list')).toEqual({ sandboxes: [] })
      expect(readdirSync(home.sandboxes)).toEqual([])
    },
    patience,
  )
})

test(
  'a sandbox that stays loses its programs with its supervisor, suspended or not, keeps its files, and starts again',
  async () => {
    await using home = homeOf('user')
    const info = await home.start('--name', 'bereft')
    await shellInside(info, 'echo kept >note')
    const { supervisor } = JSON.parse(readFileSync(join(home.sandboxes, 'bereft/run.json'), 'utf8'))
    process.kill(supervisor.pid, 'SIGKILL')
    await until('its programs to end', () => tracesOf(info).length === 0)
    expect(await statusOf(home, 'bereft')).toBe('stopped')
    const again = (await home.ask('resume', 'bereft')) as Info
    expect(await shellInside(again, 'cat note')).toBe('kept\n')
    await home.ask('suspend', 'bereft')
    const run = JSON.parse(readFileSync(join(home.sandboxes, 'bereft/run.json'), 'utf8'))
    process.kill(run.supervisor.pid, 'SIGKILL')
    await until('its halted programs to end', () => tracesOf(again).length === 0)
    expect(await statusOf(home, 'bereft')).toBe('stopped')
  },
  patience,
)

test(
  'two programs that take one name at once get one sandbox, and a second one never',
  async () => {
    await using home = homeOf('user')
    const calls = await Promise.all([1, 2, 3].map(() => home.run('start', '--network', 'loopback', '--name', 'wanted')))
    expect(calls.map(({ status }) => status).toSorted()).toEqual([0, 1, 1])
    const refused = calls.filter(({ status }) => status === 1).map(({ output }) => output)
    for (const output of refused) expect(output).toMatchObject({ error: { code: 'sandbox_exists' } })
    const { sandboxes } = (await home.ask('list')) as { sandboxes: Info[] }
    expect(sandboxes.map(({ name, status }) => [name, status as unknown])).toEqual([['wanted', 'running']])
    const [info] = await Promise.all([home.start(), home.ask('delete', 'wanted'), home.run('list'), home.run('list')])
    expect(await shellInside(info, 'echo here')).toBe('here\n')
  },
  patience,
)

test(
  'a start that is cut short leaves nothing',
  async () => {
    await using home = homeOf('user')
    for (const how of ['SIGTERM', 'SIGKILL'] as const) {
      const child = Bun.spawn(home.command('start', '--name', 'cut', '--network', 'loopback'), {
        env: home.environment,
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      })
      const run = join(home.sandboxes, 'cut/run.json')
      await until('the start to be under way', () => existsSync(run))
      child.kill(how)
      await child.exited
      await until('its supervisor to give up', () => processesWith('local supervise cut').length === 0)
      expect(await home.ask('list')).toEqual({ sandboxes: [] })
      expect(readdirSync(home.sandboxes)).toEqual([])
    }
  },
  patience,
)

test(
  'a sandbox whose time is over removes itself',
  async () => {
    await using home = homeOf('user')
    const info = await home.start('--name', 'brief', '--ttl-ms', '1500')
    expect(Date.parse(String(info.expires_at)) - Date.parse(String(info.created_at))).toBe(1500)
    await until('it to be gone', () => readdirSync(home.sandboxes).length === 0)
    expect(tracesOf(info)).toEqual([])
  },
  patience,
)

test(
  'a program that dies in the start of a desktop is told of, and nothing is left',
  async () => {
    await using home = homeOf('user')
    const { output } = await home.run('start', '--network', 'loopback', '--timeout-ms', '1')
    expect(output).toMatchObject({ error: { code: 'sandbox_not_started' } })
    expect(readdirSync(home.sandboxes)).toEqual([])
  },
  patience,
)

test(
  'what cannot be is refused before anything is made',
  async () => {
    await using home = homeOf('user')
    const refusals: [string, string[]][] = [
      ['invalid_argument', ['start', '--name', 'Not a name']],
      ['invalid_argument', ['start', '--name', '../up']],
      ['invalid_argument', ['start', '--name', 'x'.repeat(64)]],
      ['invalid_argument', ['start', '--network', 'everything']],
      ['invalid_argument', ['start', '--memory-mb', 'much']],
      ['invalid_argument', ['start', '--network', 'loopback', '--mount', '/usr:/etc/passwd']],
      ['invalid_argument', ['start', '--network', 'loopback', '--mount', '/no-such-folder:/mnt']],
      ['unsupported', ['start', '--network', 'allow=example.com']],
      ['unsupported', ['start', '--isolation', 'own-root']],
      ['sandbox_not_found', ['delete', 'nobody']],
      ['usage', ['delete']],
      ['usage', ['dance']],
    ]
    for (const [code, words] of refusals) expect([words, await codeOf(home, ...words)]).toEqual([words, code])
    expect((await home.ask('list')).sandboxes).toEqual([])
  },
  patience,
)

test(
  'the key stands in files of its owner alone and in no argument, and its server asks for it',
  proving(['sandbox.runtime-info.api-key'], async () => {
    await using home = homeOf('user')
    const info = await home.start('--name', 'secret')
    for (const file of ['key', 'share/key']) {
      expect([file, statSync(join(home.sandboxes, 'secret', file)).mode & 0o777]).toEqual([file, 0o600])
    }
    expect(processesWith(info.api_key)).toEqual([])
    expect((await fetch(`${info.api_url}/commands`)).status).toBe(401)
    const view = /view, for one browser, once: (\S+)/.exec(
      readFileSync(join(home.sandboxes, 'secret/log'), 'utf8'),
    )?.[1]
    expect((await fetch(view ?? '')).status).toBe(200)
  }),
  patience,
)

test(
  'a program inside cannot lead who calls the server to another socket',
  async () => {
    await using home = homeOf('user')
    const info = await home.start('--name', 'trap')
    const folder = join(home.folder, 'outside')
    mkdirSync(folder)
    using other = Bun.listen({
      unix: join(folder, 'socket'),
      socket: { open: () => void heard.push('a call'), data() {} },
    })
    const heard: string[] = []
    await shellInside(info, `rm /run/backlot/computer; ln -s ${folder}/socket /run/backlot/computer`)
    symlinkSync('/dev/null', join(folder, 'unused'))
    expect(await shellInside(info, 'echo here')).toBe('here\n')
    expect(heard).toEqual([])
    expect(other.unix).toEndWith('socket')
  },
  patience,
)

test(
  'the log of a sandbox is shown, and followed to its end',
  async () => {
    await using home = homeOf('user')
    const info = await home.start('--name', 'talkative')
    await shellInside(info, 'true')
    const child = Bun.spawn(home.command('logs', 'talkative', '--follow'), {
      env: home.environment,
      stdin: 'ignore',
      stdout: 'pipe',
    })
    let shown = ''
    const reading = (async () => {
      for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) shown += part
    })()
    await until('the call in the log', () => shown.includes('POST /cmd 200'))
    await home.ask('stop', 'talkative')
    await home.ask('delete', 'talkative')
    await reading
    expect(await child.exited).toBe(0)
  },
  patience,
)
