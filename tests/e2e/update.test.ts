import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { version } from '@backlot/contract/version'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'

const on = privateDesktop()
let answer: () => Response | Promise<Response>
const asked: { readonly path: string; readonly headers: Record<string, string> }[] = []
const registry = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url)
    asked.push({ path: pathname + search, headers: request.headers.toJSON() })
    return answer()
  },
})
let here: TestDesktop
let client: McpClient
const cache = () => join(here.env.XDG_CACHE_HOME ?? '', 'backlot/update.json')

interface Update {
  readonly current_version: string
  readonly latest_version: string | null
  readonly update_available: boolean
  readonly install_command: string
  readonly release_notes_url: string
  readonly problem: string | null
}

beforeAll(async () => {
  here = on().with({ BACKLOT_UPDATE_REGISTRY: registry.url.href })
  client = await connect(here)
})

beforeEach(() => {
  asked.length = 0
  answer = () => Response.json({ name: 'backlot', version: '999.0.1' })
  rmSync(cache(), { force: true })
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await registry.stop(true)
})

const ask = () => client.ask<Update>('check_for_update')

test(
  'a newer version is told of with the line that installs it and its notes',
  proving(
    [
      'driver.check-for-update.call',
      'driver.check-for-update.versions',
      'driver.check-for-update.install-line',
      'driver.check-for-update.release-notes',
      'driver.version.update-check',
    ],
    async () => {
      for (const update of await inBothForms<Update>(here, client, 'check_for_update')) {
        expect(update).toEqual({
          current_version: version,
          latest_version: '999.0.1',
          update_available: true,
          install_command: 'npm install -g backlot@latest',
          release_notes_url: 'https://www.npmjs.com/package/backlot/v/999.0.1',
          problem: null,
        })
      }
    },
  ),
)

test('the registry is asked once in some hours, and told nothing', async () => {
  await ask()
  await ask()
  expect(asked.map(({ path }) => path)).toEqual(['/backlot/latest'])
  const { host, connection, 'accept-encoding': _, ...told } = asked[0]?.headers ?? {}
  expect(told).toEqual({ accept: 'application/json', 'user-agent': 'backlot' })
  const kept = JSON.parse(readFileSync(cache(), 'utf8'))
  expect(kept).toMatchObject({ version: '999.0.1' })
  const heardHoursAgo = (hours: number) =>
    Bun.write(cache(), JSON.stringify({ ...kept, asked_at: Date.now() - hours * 3_600_000, version: '998.0.0' }))
  await heardHoursAgo(1)
  expect([(await ask()).latest_version, asked.length]).toEqual(['998.0.0', 1])
  await heardHoursAgo(24)
  expect([(await ask()).latest_version, asked.length]).toEqual(['999.0.1', 2])
})

/** A line of strace: a call that made a path or changed what is there, or started a program. */
const touched = /^\d+ +(execve|creat|mkdir|rename|link|symlink|unlink|open|chmod|truncate)[a-z0-9]*\((.*)\) += \d/

test(
  'looking for an update starts no program and writes no file but what it remembers',
  proving(['driver.check-for-update.never-installs'], async () => {
    const log = on().path('strace.log')
    const calls = 'execve,execveat,creat,open,openat,/mkdir,/rename,/link,/unlink,/chmod,/truncate'
    // From its sources it runs in Bun, which keeps what it has translated.
    const { status, stdout } = await here
      .with({ BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' })
      .run([
        'strace',
        ...['-f', '-qq', '-s', '300', '-e', `trace=${calls}`, '-e', 'signal=none', '-o', log],
        ...backlotCommand('check_for_update', '{}', '--direct'),
      ])
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 0, update_available: true })
    const seen = readFileSync(log, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, call = '', words = ''] = touched.exec(line) ?? []
        const isRead = call === 'open' && !/O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)/.test(words)
        return call === '' || isRead ? [] : [{ call, path: /"([^"]*)"/.exec(words)?.[1] ?? words }]
      })
    expect(seen.filter(({ call }) => call === 'execve')).toHaveLength(1)
    const elsewhere = seen.filter(
      ({ call, path }) =>
        call !== 'execve' && !path.startsWith(dirname(cache())) && !/^\/(?:dev|proc|sys)\//.test(path),
    )
    expect(elsewhere).toEqual([])
    expect(seen.map(({ path }) => path)).toContainEqual(expect.stringContaining(cache()))
  }),
)

test('what is remembered counts only for the registry that said it', async () => {
  await Bun.write(cache(), JSON.stringify({ registry: 'http://other/', asked_at: Date.now(), version: '1000.0.0' }))
  expect((await ask()).latest_version).toBe('999.0.1')
})

test('a memory that is damaged, old or from the future is not believed', async () => {
  const kept = (asked_at: number) => JSON.stringify({ registry: registry.url.href, asked_at, version: '1000.0.0' })
  for (const text of ['{', '[]', '{"version":7}', kept(0), kept(Date.now() + 86_400_000)]) {
    await Bun.write(cache(), text)
    expect({ text, latest: (await ask()).latest_version }).toEqual({ text, latest: '999.0.1' })
  }
})

test.each(['0.0.1', version, `${version}-rc.1`])('%s is no update', async (published) => {
  answer = () => Response.json({ version: published })
  expect(await ask()).toMatchObject({ latest_version: published, update_available: false, problem: null })
})

test.each([
  ['holds no version', () => Response.json({ version: '1.0' })],
  ['holds no version', () => Response.json({ version: '1.0.0; rm -rf ~' })],
  ['holds no version', () => Response.json(['9.9.9'])],
  ['holds no version', () => new Response('<html>')],
  ['holds no version', () => new Response(`{"version":"9.9.9","padding":"${'x'.repeat(1_000_001)}"}`)],
  ['has no package', () => new Response('', { status: 404 })],
  ['status 500', () => new Response('', { status: 500 })],
  ['did not answer in time', () => new Promise<Response>(() => undefined)],
])('an answer that %s gives no version and is not remembered', async (problem, given) => {
  answer = given
  const update = await ask()
  expect(update).toMatchObject({ current_version: version, latest_version: null, update_available: false })
  expect(update.problem).toContain(problem)
  expect(existsSync(cache())).toBe(false)
})

test('without a network the answer says so', async () => {
  const { stdout, status } = await on().backlot(['check_for_update', '{}', '--direct'], {
    env: { BACKLOT_UPDATE_REGISTRY: 'http://127.0.0.1:9/' },
  })
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ latest_version: null, update_available: false })
  expect(JSON.parse(stdout).problem).toContain('cannot be reached')
})

test('it can be switched off, by the configuration and by the environment', async () => {
  await client.ask('set_config', { check_for_update: false })
  try {
    expect(await ask()).toMatchObject({ latest_version: null, update_available: false })
    expect((await ask()).problem).toContain('check_for_update')
  } finally {
    await client.ask('set_config', { check_for_update: true })
  }
  const { stdout } = await on().backlot(['check_for_update', '{}', '--direct'])
  expect(JSON.parse(stdout).problem).toContain('BACKLOT_UPDATE_REGISTRY')
  expect(asked).toEqual([])
})
