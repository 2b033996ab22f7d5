/** Sandboxes that wait, and who gets them. */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sizeByMemory } from '../../ts/local/pools/memory.ts'
import { type Caller, callers, homeOf, type Info, shellInside, type TestHome } from '../support/local.ts'
import { until } from '../support/until.ts'

const patience = 90_000

interface PoolInfo {
  readonly size: number
  readonly ready: number
  readonly starting: number
  readonly warnings: readonly string[]
}

const infoOf = async (home: TestHome): Promise<PoolInfo | undefined> =>
  ((await home.ask('pools')).pools as PoolInfo[])[0]

/** A pool that this test owns: its program, and all that it says at first. */
const startPool = async (home: TestHome, ...words: string[]) => {
  const owner = Bun.spawn(home.command('--json', 'pool', 'spare', '--network', 'loopback', ...words), {
    env: home.environment,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  await owner.stdout.getReader().read()
  return owner
}

const full = (home: TestHome, ready: number): Promise<unknown> =>
  until('the pool to be full', async () => (await infoOf(home))?.ready === ready)

const runIn = (home: TestHome, name: string) =>
  JSON.parse(readFileSync(join(home.sandboxes, name, 'run.json'), 'utf8')) as {
    supervisor: { pid: number }
    init: { pid: number }
  }

/** Processes that look after sandboxes of the pool, claimed ones too. */
const supervisorsOf = (home: TestHome): string[] =>
  readdirSync('/proc').filter((entry) => {
    try {
      const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8')
      return words.includes('\0local\0wait\0') && readFileSync(`/proc/${entry}/environ`, 'utf8').includes(home.folder)
    } catch {
      return false
    }
  })

const waitingIn = (home: TestHome): string[] => readdirSync(home.sandboxes).filter((name) => /^pool-\w+$/.test(name))

const codeOf = async (home: TestHome, ...words: string[]): Promise<unknown> => {
  const { output } = await home.run(...words)
  return (output as { error?: { code?: unknown } } | null)?.error?.code
}

describe.each(callers)('a pool of %s', (caller: Caller) => {
  test(
    'hands out what is ready, once each, fills up again, and ends what waits with its program',
    async () => {
      await using home = homeOf(caller)
      const owner = await startPool(home, '--size', '2')
      await full(home, 2)
      // More at once than there are: each gets one of its own, and some wait.
      const infos = (await Promise.all([1, 2, 3].map(() => home.ask('claim', 'spare', '--label', 'a=b')))) as Info[]
      expect(new Set(infos.map(({ name }) => name)).size).toBe(3)
      expect(new Set(infos.map(({ api_port }) => api_port)).size).toBe(3)
      for (const [at, info] of infos.entries()) {
        expect(info).toMatchObject({ status: 'running', ephemeral: false, labels: { a: 'b' } })
        expect(await shellInside(info, `echo ${at} >mark; ls; cat /etc/hostname; getent hosts ${info.name}`)).toMatch(
          new RegExp(`^mark\n${info.name}\n127.0.0.1 `),
        )
      }
      await full(home, 2)
      owner.kill('SIGTERM')
      expect(await owner.exited).toBe(0)
      const { sandboxes } = (await home.ask('list')) as { sandboxes: Info[] }
      expect(sandboxes.map(({ name }) => name).toSorted()).toEqual(infos.map(({ name }) => name).toSorted())
      // What was claimed goes on, and is what any other sandbox is.
      const [first] = infos as [Info]
      expect(await shellInside(first, 'cat mark')).toBe('0\n')
      await home.ask('stop', first.name)
      const again = (await home.ask('resume', first.name)) as Info
      expect(await shellInside(again, 'cat mark; hostname')).toBe(`0\n${first.name}\n`)
      expect(await codeOf(home, 'claim', 'spare')).toBe('pool_not_found')
    },
    patience,
  )

  test(
    'whose program is killed leaves what was claimed, and nothing else',
    async () => {
      await using home = homeOf(caller)
      const owner = await startPool(home, '--size', '2')
      await full(home, 2)
      const info = (await home.ask('claim', 'spare', '--name', 'mine')) as Info
      owner.kill('SIGKILL')
      await owner.exited
      // One that was about to be started ends when it meets the end of its orders.
      await until('the processes of all that waited to end', () => supervisorsOf(home).length === 1)
      await until('all that waited to be gone', async () => {
        const { sandboxes } = (await home.ask('list')) as { sandboxes: Info[] }
        return sandboxes.length === 1
      })
      expect(await shellInside(info, 'echo here')).toBe('here\n')
      expect(await infoOf(home)).toBeUndefined()
      expect(waitingIn(home)).toEqual([])
      expect(readdirSync(join(home.folder, 'state/local-pools'))).toEqual([])
    },
    patience,
  )
})

test(
  'one that is unwell is handed to nobody, and another takes its place',
  async () => {
    await using home = homeOf(callers[0])
    const owner = await startPool(home, '--size', '3')
    await full(home, 3)
    const [halted = '', silent = ''] = waitingIn(home)
    process.kill(runIn(home, halted).init.pid, 'SIGSTOP')
    process.kill(runIn(home, silent).supervisor.pid, 'SIGSTOP')
    const infos = (await Promise.all([1, 2, 3].map(() => home.ask('claim', 'spare')))) as Info[]
    for (const info of infos) expect(await shellInside(info, 'echo here')).toBe('here\n')
    await until('the others to be gone', () => !waitingIn(home).some((name) => name === halted || name === silent))
    // One that ends by itself is replaced.
    await full(home, 3)
    const [ended = ''] = waitingIn(home)
    process.kill(runIn(home, ended).init.pid, 'SIGKILL')
    await until('it to be replaced', async () => !waitingIn(home).includes(ended) && (await infoOf(home))?.ready === 3)
    owner.kill('SIGTERM')
    await owner.exited
  },
  patience,
)

test(
  'who claims one and dies before it has it gets none, and a name that is taken costs none',
  async () => {
    await using home = homeOf(callers[0])
    const owner = await startPool(home, '--size', '1')
    await full(home, 1)
    await home.start('--name', 'taken')
    expect(await codeOf(home, 'claim', 'spare', '--name', 'taken')).toBe('sandbox_exists')
    expect((await infoOf(home))?.ready).toBe(1)
    const { port, key } = JSON.parse(readFileSync(join(home.folder, 'state/local-pools/spare.json'), 'utf8'))
    const claim = (authorization: string) =>
      fetch(`http://127.0.0.1:${port}/claim`, {
        method: 'POST',
        headers: { Authorization: authorization },
        body: JSON.stringify({ name: 'nobodys', labels: {}, ttlMs: null }),
      })
    expect((await claim('Bearer other')).status).toBe(401)
    expect((await claim(`Bearer ${key}`)).status).toBe(200)
    // It never says that it has it.
    owner.kill('SIGTERM')
    await owner.exited
    const { sandboxes } = (await home.ask('list')) as { sandboxes: Info[] }
    expect(sandboxes.map(({ name }) => name)).toEqual(['taken'])
  },
  patience,
)

test(
  'a second program of one name takes it over, or changes its size, and what cannot be is refused',
  async () => {
    await using home = homeOf(callers[0])
    const owner = await startPool(home, '--size', '1')
    await full(home, 1)
    expect(await home.ask('pool', 'spare', '--size', '2', '--network', 'loopback')).toMatchObject({ size: 2 })
    await full(home, 2)
    const other = await startPool(home, '--size', '1', '--label', 'kind=other')
    expect(await owner.exited).toBe(0)
    await full(home, 1)
    const info = (await home.ask('claim', 'spare')) as Info
    expect(info.labels).toEqual({ kind: 'other' })
    const given = Bun.spawn(
      home.command('--json', 'pool', 'env', '--size', '1', '--network', 'loopback', '--env-from-input', '--detach'),
      {
        env: home.environment,
        stdin: Buffer.from('{"GREETING":"a word"}'),
        stdout: 'pipe',
        stderr: 'ignore',
      },
    )
    expect(await given.stdout.json()).toMatchObject({ name: 'env', size: 1 })
    const greeted = (await home.ask('claim', 'env')) as Info
    expect(await shellInside(greeted, 'printenv GREETING')).toBe('a word\n')
    await home.ask('pool', 'env', '--size', '0')
    expect(await home.ask('pool', 'spare', '--size', '0')).toEqual({ name: 'spare', size: 0 })
    expect(await other.exited).toBe(0)
    expect(await codeOf(home, 'pool', '--size', 'many')).toBe('invalid_argument')
    expect(await codeOf(home, 'pool', '--size', '1', '--ephemeral')).toBe('usage')
    expect(await codeOf(home, 'pool', '../x', '--size', '1')).toBe('invalid_argument')
  },
  patience,
)

test('memory that is short keeps fewer, and says so', () => {
  expect(sizeByMemory(4, 0, 100_000)).toEqual({ size: 4, reason: null })
  expect(sizeByMemory(null, 0, 100_000).size).toBe(4)
  expect(sizeByMemory(8, 0, 512 + 3 * 128)).toEqual({ size: 3, reason: expect.stringContaining('rather than 8') })
  expect(sizeByMemory(8, 3, 512).size).toBe(3)
  expect(sizeByMemory(1, 0, 100).size).toBe(0)
})
