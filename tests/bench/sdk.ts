/**
 * `./dev bench sdk [--quick]`: the SDK under Bun and Node against a bare HTTP call to the same server, on the packed build; its
 * import; and this machine from nothing to its first command.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand } from '../support/backlot.ts'
import { programWords, runtimes } from '../support/sdk/driven.ts'
import { machine, type Row, sideBySide, spreadOf, summary, table } from './driver/measure.ts'
import { Service } from './vmhost/server-process.ts'

const isQuick = process.argv.includes('--quick')
const home = await mkdtemp(join(tmpdir(), 'backlot-bench-'))
const here = import.meta.dir

const run = async (words: readonly string[]): Promise<string> => {
  const child = Bun.spawn([...words], { stdout: 'pipe', stderr: 'inherit' })
  const text = await child.stdout.text()
  if ((await child.exited) !== 0) throw new Error(`${words.join(' ')} failed`)
  return text
}

/** The package as it is published: JavaScript in one file, and in others what is loaded when it is needed. */
const packed = async (): Promise<string> => {
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [join(here, '../../ts/sdk/index.ts')],
    outdir: home,
    target: 'node',
    format: 'esm',
    splitting: true,
    naming: '[name]-[hash].mjs',
  })
  const entry = outputs.find(({ kind }) => kind === 'entry-point')
  if (!success || entry === undefined) throw new Error(logs.join('\n'))
  return entry.path
}

const rows: Row[] = []
const add = (row: Row) => {
  rows.push(row)
  console.error(`  ${summary(row)}`)
}

try {
  const service = () => Service.start(backlotCommand('computer', '--port', '0'), home)
  await using first = await service()
  await using second = await service()
  await using third = await service()
  const urls = [first, second, third].map(({ url }) => url)
  const entry = await packed()
  for (const runtime of runtimes) {
    console.error(`${runtime}:`)
    const [program] = await programWords(runtime)
    const words = await programWords(runtime, '../../bench/sdk/program.ts')
    const samples = JSON.parse(await run([...words, isQuick ? '20' : '400', ...urls])) as Record<string, number[]>
    const spread = (name: string) => spreadOf(samples[name]?.slice(1) ?? [])
    for (const way of ['http', 'websocket', 'local']) {
      const floor = { name: 'bare HTTP call', spread: spread('bare') }
      add({
        what: `a call, ${runtime}, ${way}`,
        unit: 'ms',
        measured: spread(way),
        floor,
        aim: { of: 'ratio', atMost: 1.2 },
      })
      add({
        what: `the same beyond it`,
        unit: 'ms',
        measured: spread(way),
        floor,
        aim: { of: 'difference', atMost: 1 },
      })
      const many = { name: '200 bare calls', spread: spread('bare 200') }
      const measured = spread(`${way} 200`)
      add({
        what: `200 at once, ${runtime}, ${way}`,
        unit: 'ms',
        measured,
        floor: many,
        aim: { of: 'ratio', atMost: 1.2 },
      })
    }
    add({
      what: `HTTPTransport.connect, ${runtime}`,
      unit: 'ms',
      measured: spread('connect'),
      floor: { name: 'bare HTTP call', spread: spread('bare') },
    })
    const inNewProgram = async (name: string) => {
      const words = [program, ...(await programWords(runtime, `../../bench/sdk/${name}.ts`)).slice(1), entry]
      return (await sideBySide(15, { it: async () => Number(await run(words)) })).it
    }
    add({
      what: `Localhost to the first command of a new program, ${runtime}`,
      unit: 'ms',
      measured: await inNewProgram('first'),
      aim: { of: 'median', atMost: 300 },
    })
    add({
      what: `import, ${runtime}`,
      unit: 'ms',
      measured: await inNewProgram('importing'),
      aim: { of: 'median', atMost: 30 },
    })
  }
  console.log(`${table(rows)}\n\n${machine()}.`)
} finally {
  await rm(home, { recursive: true, force: true })
}
