/** What ten viewers of the live film cost, beside one: processor time of the server, and pictures that were made for them. */
import { readFileSync } from 'node:fs'
import { startComputer, type TestComputer } from '../../support/computer.ts'
import { until } from '../../support/until.ts'
import { type Row, spreadOf } from '../driver/measure.ts'

const isQuick = process.argv.includes('--quick')
const seconds = isQuick ? 2 : 5
const rounds = isQuick ? 1 : 4

const scrolling = 'while :; do seq -s " " $((i += 7)) $((i + 300)); sleep 0.1; done'

/** Seconds that a process has used of a processor, of which `proc_pid_stat(5)` tells hundredths. */
const processorSeconds = (pid: number): number => {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const numbers = fields.split(' ').map(Number)
  return ((numbers[11] ?? 0) + (numbers[12] ?? 0)) / 100
}

/** One who looks on, and a hash of each message that came. */
const join = async ({ url }: TestComputer) => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/view/film?pictures`)
  socket.binaryType = 'arraybuffer'
  const seen: (number | bigint)[] = []
  socket.onmessage = ({ data }) => void (typeof data === 'string' || seen.push(Bun.hash(new Uint8Array(data))))
  await until('a picture', () => seen.length > 1)
  return {
    seen,
    async [Symbol.asyncDispose]() {
      socket.close()
      await until('the socket to close', () => socket.readyState === WebSocket.CLOSED)
    },
  }
}

/** Percent of a core that the server takes for so many, and how many pictures each and all of them got a second. */
const watched = async (computer: TestComputer, number: number) => {
  await using stack = new AsyncDisposableStack()
  const viewers = await Promise.all(Array.from({ length: number }, async () => stack.use(await join(computer))))
  await Bun.sleep(500)
  for (const { seen } of viewers) seen.length = 0
  const before = processorSeconds(computer.pid)
  await Bun.sleep(seconds * 1_000)
  const percent = ((processorSeconds(computer.pid) - before) / seconds) * 100
  const [first] = viewers
  return {
    percent,
    each: (first?.seen.length ?? 0) / seconds,
    all: new Set(viewers.flatMap(({ seen }) => seen)).size / seconds,
  }
}

/** Rows of one viewer and of ten, in turn. */
export const viewerRows = async (): Promise<Row[]> => {
  await using computer = await startComputer()
  const pid = await computer.shell(`xterm -geometry 150x50+0+0 -e sh -c '${scrolling}' >/dev/null 2>&1 & echo $!`)
  await until('the window', async () => (await computer.ask('get_active_window_title')).result !== '')
  const one = []
  const ten = []
  for (let round = 0; round < rounds; round++) {
    one.push(await watched(computer, 1))
    ten.push(await watched(computer, 10))
  }
  await computer.shell(`kill ${pid}`)
  return [
    {
      what: 'live film, scrolling, processor time of the server for ten viewers',
      unit: '% of a core',
      measured: spreadOf(ten.map(({ percent }) => percent)),
      floor: { name: 'one viewer', spread: spreadOf(one.map(({ percent }) => percent)) },
      aim: { of: 'ratio', atMost: 1.25 },
    },
    {
      what: 'live film, scrolling, pictures that are made for ten viewers',
      unit: 'a second',
      measured: spreadOf(ten.map(({ all }) => all)),
      floor: { name: 'pictures that one of them gets', spread: spreadOf(ten.map(({ each }) => each)) },
      aim: { of: 'ratio', atMost: 1.05 },
    },
  ]
}
