/**
 * `./dev bench sandbox [--quick]`: sandboxes of the runtime `local`, on the packed build, as root and as an ordinary user:
 * from the call to the first command and the first picture, halted and continued, and gone; what an idle one takes; many at
 * once, and many in a row. Then those of the runtime `container`, on an engine of its own, which root can start.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image, WarmPool } from '@backlot/sdk'
import { askInside, type Caller, callers, homeOf, type Info, type TestHome } from '../support/local.ts'
import { until } from '../support/until.ts'
import { machine, milliseconds, type Row, spreadOf, summary, table } from './driver/measure.ts'
import { containerTimes } from './sandbox/container.ts'

const rounds = process.argv.includes('--quick') ? 3 : 20

const row = (what: string, unit: Row['unit'], samples: readonly number[], atMost?: number): Row => ({
  what,
  unit,
  measured: spreadOf(samples),
  ...(atMost !== undefined && { aim: { of: 'median', atMost } }),
})

/** A process and its private memory in megabytes. */
interface Taking {
  readonly program: string
  readonly megabytes: number
}

/** What a process and all that descends from it take. */
const takingOf = (root: number): Taking[] => {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1')
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {}
  }
  const isOf = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 1 && isOf(parents.get(pid)))
  return [...parents.keys()].filter(isOf).flatMap((pid) => {
    try {
      const program = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
      const sizes = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+)/gm)
      return [{ program, megabytes: ([...sizes].reduce((sum, [, size]) => sum + Number(size), 0) * 1024) / 1e6 }]
    } catch {
      return []
    }
  })
}

const total = (taking: readonly Taking[]): number => taking.reduce((sum, { megabytes }) => sum + megabytes, 0)

const privateMB = (root: number): number => total(takingOf(root))

/** What an idle sandbox runs, by the names of the programs; the rest is all others. */
const parts: readonly (readonly [what: string, programs: RegExp])[] = [
  ['its computer server', /^(backlot|bun)$/],
  ['its X server', /^X/],
  ['its window manager', /^openbox$/],
  ['its buses and what watches over all of these', /^(?!backlot$|bun$|X|openbox$)/],
]

const runOf = (home: TestHome, { name }: Info): { supervisor: { pid: number }; init: { pid: number } } =>
  JSON.parse(readFileSync(join(home.sandboxes, name, 'run.json'), 'utf8'))

const diskMB = (home: TestHome, { name }: Info): number => {
  const { stdout } = Bun.spawnSync(['du', '-sk', join(home.sandboxes, name)])
  return (Number.parseInt(stdout.toString(), 10) * 1024) / 1e6
}

const rowsOf = async (caller: Caller): Promise<Row[]> => {
  await using home = homeOf(caller)
  const times: Record<string, number[]> = { command: [], picture: [], suspend: [], resume: [], delete: [] }
  const sizes: Record<string, number[]> = { sandbox: [], supervisor: [], disk: [] }
  const shares = parts.map((): number[] => [])
  // The first one of a home unpacks what all share.
  const cold = await milliseconds(async () => askInside(await home.start('--name', 'cold'), 'version'))
  for (let round = 0; round < rounds; round += 1) {
    const name = `bench-${round}`
    const begun = performance.now()
    const info = await home.start('--name', name)
    await askInside(info, 'run_command', { command: 'true' })
    times.command?.push(performance.now() - begun)
    await askInside(info, 'screenshot')
    times.picture?.push(performance.now() - begun)
    times.suspend?.push(await milliseconds(() => home.ask('suspend', name)))
    times.resume?.push(await milliseconds(() => home.ask('resume', name)))
    const { supervisor, init } = runOf(home, info)
    const taking = takingOf(init.pid)
    const inside = total(taking)
    for (const [index, [, programs]] of parts.entries()) {
      shares[index]?.push(total(taking.filter(({ program }) => programs.test(program))))
    }
    sizes.sandbox?.push(inside)
    sizes.supervisor?.push(privateMB(supervisor.pid) - inside)
    sizes.disk?.push(diskMB(home, info))
    times.delete?.push(await milliseconds(() => home.ask('delete', name)))
  }
  const { command = [], picture = [], suspend = [], resume = [], delete: gone = [] } = times
  return [
    row(`${caller}: create to the first command, the first of a home`, 'ms', [cold]),
    row(`${caller}: create to the first command`, 'ms', command, 1_000),
    row(`${caller}: create to the first picture`, 'ms', picture, 1_000),
    row(`${caller}: suspend`, 'ms', suspend),
    row(`${caller}: resume`, 'ms', resume),
    row(`${caller}: delete`, 'ms', gone),
    row(`${caller}: private memory of an idle one, the desktop and its server`, 'MB', sizes.sandbox ?? [], 25),
    ...parts.map(([what], index) => row(`${caller}: of that ${what}`, 'MB', shares[index] ?? [])),
    row(`${caller}: private memory of its supervisor`, 'MB', sizes.supervisor ?? []),
    row(`${caller}: disk of an idle one`, 'MB', sizes.disk ?? [], 2),
  ]
}

/** From the claim to the first command: by a program that is started for it, and by one that runs and uses the SDK. */
const poolRows = async (): Promise<Row[]> => {
  await using home = homeOf('root')
  process.env.BACKLOT_HOME = home.folder
  const times: Record<'command' | 'sdk', number[]> = { command: [], sdk: [] }
  const pool = await WarmPool.apply(Image.desktop(), { runtime: 'local', network: 'loopback', name: 'bench', size: 4 })
  const full = () => until('the pool to be full', async () => (await pool.getInfo()).ready === 4)
  try {
    for (let round = 0; round < rounds; round += 1) {
      await full()
      times.command.push(
        await milliseconds(async () => {
          const info = (await home.ask('claim', 'bench', '--name', `claimed-${round}`)) as Info
          await askInside(info, 'run_command', { command: 'true' })
        }),
      )
      await home.ask('delete', `claimed-${round}`)
      await full()
      const begun = performance.now()
      await using sandbox = await pool.claim()
      await sandbox.shell.run('true')
      times.sdk.push(performance.now() - begun)
    }
  } finally {
    await pool.delete()
  }
  return [
    row('root: from the pool to the first command, by `backlot local claim`', 'ms', times.command),
    row('root: from the pool to the first command, in a program with the SDK', 'ms', times.sdk, 50),
  ]
}

/** Files of a sandbox saved and put back: 200 of 100 kB. */
const snapshotRows = async (): Promise<Row[]> => {
  await using home = homeOf('root')
  const times: Record<'save' | 'restore' | 'fork', number[]> = { save: [], restore: [], fork: [] }
  const info = await home.start('--name', 'origin')
  await askInside(info, 'run_command', {
    command: 'for n in $(seq 200); do head -c 100000 /dev/urandom >file-$n; done',
  })
  for (let round = 0; round < rounds; round += 1) {
    let id = ''
    times.save.push(
      await milliseconds(async () => {
        id = String((await home.ask('snapshot', 'origin')).id)
      }),
    )
    times.restore.push(await milliseconds(() => home.ask('restore', 'origin', id)))
    times.fork.push(await milliseconds(() => home.ask('fork', 'origin', 'copy')))
    await home.ask('delete', 'copy')
    await home.ask('delete-snapshot', id)
  }
  return [
    row('root: a snapshot of 20 MB', 'ms', times.save),
    row('root: put back, until it can be used', 'ms', times.restore),
    row('root: a copy of it, until it can be used', 'ms', times.fork),
  ]
}

/** Many at once: until each has carried out a command, and what one of them takes. */
const togetherRows = async (): Promise<Row[]> => {
  await using home = homeOf('root')
  const begun = performance.now()
  const infos = await Promise.all(
    Array.from({ length: together }, async (_, index) => {
      const info = await home.start('--name', `one-of-${index}`)
      await askInside(info, 'run_command', { command: 'true' })
      return info
    }),
  )
  const taken = performance.now() - begun
  const sizes = await settled(() => infos.map((info) => privateMB(runOf(home, info).supervisor.pid)))
  const gone = await milliseconds(() => Promise.all(infos.map(({ name }) => home.ask('delete', name))))
  return [
    row(`root: ${together} at once, until the last has carried out a command`, 'ms', [taken]),
    row('root: private memory of one of them, its supervisor included', 'MB', sizes),
    row(`root: ${together} deleted at once`, 'ms', [gone]),
  ]
}

const together = 10

/** Sizes once they no longer fall: what a program needs to start it gives back a moment later. */
const settled = async (look: () => number[]): Promise<number[]> => {
  const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0)
  let sizes = look()
  for (let before = Number.POSITIVE_INFINITY; sum(sizes) < before * 0.99; sizes = look()) {
    before = sum(sizes)
    await Bun.sleep(1_000)
  }
  return sizes
}

/** Megabytes that this machine could give to programs. */
const availableMB = (): number =>
  (Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024) / 1e6

/** One after another: whether time and memory stay as they are. */
const inARowRows = async (): Promise<Row[]> => {
  await using home = homeOf('root')
  const count = process.argv.includes('--quick') ? 20 : 100
  const times: number[] = []
  const before = availableMB()
  for (let round = 0; round < count; round += 1) {
    times.push(
      await milliseconds(async () => {
        const { name } = await home.start()
        await home.ask('delete', name)
      }),
    )
  }
  const left = readdirSync(home.sandboxes)
  if (left.length > 0) throw new Error(`there is left: ${left.join(', ')}`)
  const tenth = Math.ceil(count / 10)
  return [
    row(`root: created and deleted, the first ${tenth} of ${count} in a row`, 'ms', times.slice(0, tenth)),
    row(`root: the last ${tenth}`, 'ms', times.slice(-tenth)),
    row('root: memory that this machine has less of afterwards', 'MB', [Math.max(0, before - availableMB())]),
  ]
}

/** Rows of the runtime `container`; the reason where this machine can have no engine. */
const containerRows = async (): Promise<Row[] | string> => {
  const times = await containerTimes(rounds)
  if (typeof times === 'string') return times
  return [
    row('container: create to the first command, the first of an engine, which builds the image', 'ms', times.build),
    row('container: create to the first command', 'ms', times.command),
    row('container: create to the first picture', 'ms', times.picture),
    row('container: suspend', 'ms', times.suspend),
    row('container: resume', 'ms', times.resume),
    row('container: delete', 'ms', times.delete),
  ]
}

const rows: Row[] = []
for (const caller of callers) {
  for (const each of await rowsOf(caller)) {
    rows.push(each)
    console.error(`  ${summary(each)}`)
  }
}
if (callers.some((caller) => caller === 'root')) {
  const groups = [togetherRows, inARowRows, poolRows, snapshotRows]
  for (const group of groups) {
    for (const each of await group()) {
      rows.push(each)
      console.error(`  ${summary(each)}`)
    }
  }
}
const ofContainers = await containerRows()
const isRefused = typeof ofContainers === 'string'
for (const each of isRefused ? [] : ofContainers) {
  rows.push(each)
  console.error(`  ${summary(each)}`)
}
const without = isRefused ? `\n\nContainers are not measured: ${ofContainers}.` : ''
console.log(`${table(rows)}${without}\n\n${machine()}.`)
