/** Sandboxes that misbehave, and sandboxes whose programs and supervisors are killed at random moments. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  callers,
  callersWithoutNamespaces,
  homeOf,
  type Info,
  runtimesIn,
  shellInside,
  type TestHome,
} from '../support/local.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(900_000))

const count = rounds(100)

/** Words of all living processes, without those of kernel threads. */
const allWords = (): string[] =>
  readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      return [readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ')]
    } catch {
      return []
    }
  })

/** Control groups of the sandboxes of a home: their names end with a hash of the folder, and others have some here too. */
const groupsOf = ({ sandboxes }: TestHome): string[] =>
  ['memory', 'cpu', 'pids'].flatMap((controller) => {
    const folder = join('/sys/fs/cgroup', controller)
    return (existsSync(folder) ? readdirSync(folder) : []).filter((group) => {
      const [, name, hash] = /^backlot-(.*)-([0-9a-f]{12})$/.exec(group) ?? []
      if (name === undefined) return false
      return new Bun.CryptoHasher('sha256')
        .update(join(sandboxes, name))
        .digest('hex')
        .startsWith(hash ?? '-')
    })
  })

/** Locks of displays, which are numbered from a thousand where Landlock parts a sandbox. */
const locks = (): string[] => readdirSync('/tmp').filter((name) => /^\.X\d{4,}-lock$/.test(name))

const traces = (home: TestHome): string[] => [
  ...locks(),
  ...allWords().filter((words) => words.includes('--forwarded-port') || words.includes(home.folder)),
  ...readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(home.folder)),
  ...groupsOf(home),
]

test.each([...callers, ...callersWithoutNamespaces])(
  `nothing is left of sandboxes of %s that are killed at random moments, ${count} times`,
  async (caller) => {
    await using home = homeOf(caller)
    const kind = caller.endsWith('namespaces') ? ['--isolation', 'landlock'] : ['--network', 'loopback']
    const takes: number[] = []
    for (let round = 0; round < count; round += 1) {
      const isEphemeral = round % 2 === 0
      const words = ['start', ...kind, ...(isEphemeral ? ['--ephemeral'] : [])]
      const begun = performance.now()
      const child = Bun.spawn(home.command(...words), {
        env: home.environment,
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      if (round === 0) {
        await child.stdout.getReader().read()
        takes.push(performance.now() - begun)
      } else await Bun.sleep(Math.random() * 1.5 * (takes[0] ?? 1_000))
      child.kill('SIGKILL')
      await child.exited
      if (isEphemeral) continue
      for (const name of readdirSync(home.sandboxes).filter((each) => !each.includes('.'))) {
        try {
          const run = JSON.parse(readFileSync(join(home.sandboxes, name, 'run.json'), 'utf8'))
          process.kill(run.supervisor.pid, 'SIGKILL')
        } catch {}
      }
    }
    await until('every supervisor to end', () => !allWords().some((words) => words.includes('local supervise')))
    const { sandboxes } = (await home.ask('list')) as { sandboxes: Info[] }
    for (const { name } of sandboxes) await home.ask('delete', name)
    await until('all to be gone', () => traces(home).length === 0).catch(() => undefined)
    expect(traces(home)).toEqual([])
    expect(readdirSync(home.sandboxes)).toEqual([])
    expect(runtimesIn(home)).toEqual([])
  },
)

test.skipIf(process.getuid?.() !== 0)(
  'a fork bomb and a memory hog in a sandbox of root do not reach its host',
  async () => {
    await using home = homeOf('root')
    const info = await home.start('--name', 'wild', '--memory-mb', '1024', '--cpu', '1')
    const free = (): number => Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) / 1024
    const before = free()
    await shellInside(info, `setsid sh -c 'bomb() { bomb | bomb & }; bomb' >/dev/null 2>&1 &`)
    expect(groupsOf(home).length).toBeGreaterThan(0)
    const group = () => {
      const name = readdirSync('/sys/fs/cgroup/pids').find((each) => each.startsWith('backlot-wild-')) ?? ''
      return Number(readFileSync(join('/sys/fs/cgroup/pids', name, 'pids.current'), 'utf8'))
    }
    await until('the bomb to grow', () => group() > 500)
    expect(group()).toBeLessThanOrEqual(4096)
    expect(Bun.spawnSync(['true']).exitCode).toBe(0)
    expect(before - free()).toBeLessThan(1_500)
    await home.ask('delete', 'wild')
    expect(traces(home)).toEqual([])
  },
)
