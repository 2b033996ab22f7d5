/**
 * `./dev bench images [--quick]`: pushing and pulling 1 GiB beside skopeo, importing a raw disk beside `qemu-img convert`, on the
 * packed build. Times and the most memory that a process had.
 */
import { randomFillSync } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand } from '../support/backlot.ts'
import { Scratch } from '../support/qemu.ts'
import { startRegistry } from '../support/registry.ts'
import { exactly, machine, milliseconds, type Row, sideBySide, summary, table } from './driver/measure.ts'

const MiB = 2 ** 20
const bytes = 1024 * MiB
const rounds = process.argv.includes('--quick') ? 1 : 5

using scratch = new Scratch()
await using registry = await startRegistry()
const env = { ...process.env, BACKLOT_HOME: scratch.at('home') }
const images = scratch.at('home/cache/images')

/** Mebibytes of memory that each kind of process had at most. */
const most: Record<string, number> = {}

const timed = (kind: string, command: readonly string[]): Promise<number> =>
  milliseconds(async () => {
    const child = Bun.spawn([...command], { env, stdout: 'ignore', stderr: 'pipe' })
    const looking = setInterval(() => {
      most[kind] = Math.max(most[kind] ?? 0, mostMemory(child.pid))
    }, 20)
    const [complaint, status] = await Promise.all([new Response(child.stderr).text(), child.exited])
    clearInterval(looking)
    if (status !== 0) throw new Error(`${command.join(' ')}: ${complaint}`)
  })

/** Mebibytes of memory that a process has had at most; what wait(2) tells begins with those of who started it. */
const mostMemory = (pid: number): number => {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** A disk that nothing packs: what is sent is what is there. */
const raw = scratch.at('random.raw')
const file = openSync(raw, 'w')
for (let done = 0; done < bytes; done += 16 * MiB) writeSync(file, randomFillSync(Buffer.alloc(16 * MiB)))
closeSync(file)
mkdirSync(images, { recursive: true })
await timed('once', backlotCommand('image', 'import', raw, 'random:v1'))

/** What runs with a registry of its own: one that has a layer in another repository takes it from there. */
const toNew = async (run: (image: string) => Promise<number>): Promise<number> => {
  await using fresh = await startRegistry()
  return await run(`${fresh.address}/bench/random:v1`)
}
const kept = `${registry.address}/bench/random:v1`
await timed('once', backlotCommand('image', 'push', 'random:v1', kept))
const copied = scratch.at('copied')
await timed('once', ['skopeo', 'copy', '--src-tls-verify=false', `docker://${kept}`, `dir:${copied}`])

const empty = (path: string) => rmSync(path, { recursive: true, force: true })
const moved = await sideBySide(rounds, {
  push: () => toNew((image) => timed('push', backlotCommand('image', 'push', 'random:v1', image))),
  skopeoPush: () =>
    toNew((image) =>
      timed('skopeo push', ['skopeo', 'copy', '--dest-tls-verify=false', `dir:${copied}`, `docker://${image}`]),
    ),
  pull: () => {
    empty(join(images, '.store'))
    return timed('pull', backlotCommand('image', 'pull', kept))
  },
  skopeoPull: () => {
    empty(scratch.at('pulled'))
    return timed('skopeo pull', [
      'skopeo',
      'copy',
      '--src-tls-verify=false',
      `docker://${kept}`,
      `dir:${scratch.at('pulled')}`,
    ])
  },
  idle: () => timed('a command that moves nothing', backlotCommand('image', 'inspect', 'random:v1')),
  taken: () => timed('import', backlotCommand('image', 'import', raw, 'imported:v1')),
  converted: () => {
    // As an import does it: the former one is there until the new one is whole.
    const [made, converted] = [scratch.at('made.raw'), scratch.at('converted.raw')]
    const convert = `qemu-img convert -f raw -O raw '${raw}' '${made}' && sync '${made}' && mv '${made}' '${converted}'`
    return timed('qemu-img', ['sh', '-c', convert])
  },
})
writeFileSync(raw, '')

const memory = (what: string, floor: string): Row => ({
  what: `memory of ${what}`,
  unit: 'MB',
  measured: exactly(Math.round(most[what] ?? 0)),
  floor: { name: floor, spread: exactly(Math.round(most[floor] ?? 0)) },
  aim: { of: 'ratio', atMost: 1 },
})
/** What the runtime has before anything is moved: skopeo's whole need is less. */
const idle: Row = {
  what: 'memory of a command that moves nothing (the runtime itself)',
  unit: 'MB',
  measured: exactly(Math.round(most['a command that moves nothing'] ?? 0)),
}
const rows: Row[] = [
  {
    what: 'push of 1 GiB that nothing packs',
    unit: 'ms',
    measured: moved.push,
    floor: { name: 'skopeo', spread: moved.skopeoPush },
    aim: { of: 'ratio', atMost: 1.2 },
  },
  {
    what: 'pull of the same, with the disk made of it',
    unit: 'ms',
    measured: moved.pull,
    floor: { name: 'skopeo', spread: moved.skopeoPull },
    aim: { of: 'ratio', atMost: 1.2 },
  },
  memory('push', 'skopeo push'),
  memory('pull', 'skopeo pull'),
  idle,
  {
    what: 'import of a raw disk of 1 GiB',
    unit: 'ms',
    measured: moved.taken,
    floor: { name: '`qemu-img convert`, `sync` and `mv`', spread: moved.converted },
    aim: { of: 'ratio', atMost: 1 },
  },
]
for (const row of rows) console.error(`  ${summary(row)}`)
console.log(`${table(rows)}\n\n${machine()}.`)
