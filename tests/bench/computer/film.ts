/** The live film beside the screen over VNC, as two browsers get them of the same display at the same time. */
import { openBrowser } from '../../support/browser.ts'
import { startComputer, type TestComputer } from '../../support/computer.ts'
import { until } from '../../support/until.ts'
import { exactly, type Row, spreadOf } from '../driver/measure.ts'

const isQuick = process.argv.includes('--quick')
const secondsOfEach = isQuick ? 3 : 10
const changes = isQuick ? 6 : 40

/** Counts what the page's WebSockets bring. */
const counting = `window.bytes = 0
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given)
    this.addEventListener('message', ({ data }) => { window.bytes += data.byteLength ?? data.length })
  }
}`

/** Notes when a pixel in the corner turns from one colour to another; \`Date.now()\` is the same clock in all processes here. */
const watching = (element: string) => `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 })
  const context = canvas.getContext('2d', { willReadFrequently: true })
  window.turns = []
  let last
  const look = () => {
    context.drawImage(document.querySelector('${element}'), 1200, 750, 1, 1, 0, 0, 1, 1)
    const isRed = context.getImageData(0, 0, 1, 1).data[0] > 128
    if (last !== undefined && isRed !== last) window.turns.push(Date.now())
    last = isRed
    requestAnimationFrame(look)
  }
  look()
})()`

const viewers = [
  { name: 'film', path: '/view?film', element: 'canvas.film', width: 'width' },
  { name: 'noVNC', path: '/view', element: '.screen canvas', width: 'width' },
] as const

const openViewer = async ({ url }: TestComputer, { path, element, width }: (typeof viewers)[number]) => {
  const browser = await openBrowser(['--window-size=1400,950'])
  await browser.send('Page.addScriptToEvaluateOnNewDocument', { source: counting })
  await browser.goTo(`${url}${path}`)
  await browser.until(`document.querySelector('${element}')?.${width} === 1280`)
  return Object.assign(browser, { count: () => browser.evaluate<number>('window.bytes'), element })
}

/** What moves on the screen, as programs in a terminal. */
const motions = [
  { what: 'typing', aim: 1, geometry: '100x30+0+0', script: 'while :; do printf "some words "; sleep 0.2; done' },
  {
    what: 'scrolling',
    aim: 0.5,
    geometry: '150x50+0+0',
    script: 'while :; do seq -s " " $((i += 7)) $((i + 300)); sleep 0.1; done',
  },
  { what: 'full motion', aim: 0.1, geometry: '200x58+0+0', script: 'base64 -w 200 /dev/urandom' },
] as const

/** Bytes on three kinds of motion, then the delay of a change. */
export const filmRows = async (): Promise<Row[]> => {
  await using computer = await startComputer()
  await using film = await openViewer(computer, viewers[0])
  await using screen = await openViewer(computer, viewers[1])
  const both = async () => [await film.count(), await screen.count()] as const
  const rows: Row[] = []
  for (const { what, aim, geometry, script } of motions) {
    const pid = await computer.shell(`xterm -geometry ${geometry} -e sh -c '${script}' >/dev/null 2>&1 & echo $!`)
    await until('the window', async () => (await computer.ask('get_active_window_title')).result !== '')
    await Bun.sleep(1_000)
    const before = await both()
    await Bun.sleep(secondsOfEach * 1_000)
    const after = await both()
    const kilobytes = ([0, 1] as const).map((at) => (after[at] - before[at]) / 1_000 / secondsOfEach)
    await computer.shell(`kill ${pid}`)
    rows.push({
      what: `live film, ${what}`,
      unit: 'KB a second',
      measured: exactly(kilobytes[0] ?? 0),
      floor: { name: 'noVNC', spread: exactly(kilobytes[1] ?? 0) },
      aim: { of: 'ratio', atMost: aim },
    })
  }
  await computer.shell('xsetroot -solid blue')
  await Bun.sleep(1_000)
  for (const viewer of [film, screen]) await viewer.evaluate(watching(viewer.element))
  const delays: [number[], number[]] = [[], []]
  for (let count = 1; count <= changes; count++) {
    await Bun.sleep(300 + Math.random() * 200)
    for (const viewer of [film, screen]) await viewer.evaluate('window.turns = []')
    const asked = await computer.shell(`xsetroot -solid ${count % 2 ? 'red' : 'blue'} && date +%s%3N`)
    for (const [at, viewer] of [film, screen].entries()) {
      await viewer.until('window.turns.length > 0')
      delays[at]?.push((await viewer.evaluate<number>('window.turns.at(-1)')) - Number(asked))
    }
  }
  return [
    ...rows,
    {
      what: 'live film, a change until it is shown',
      unit: 'ms',
      measured: spreadOf(delays[0]),
      floor: { name: 'noVNC', spread: spreadOf(delays[1]) },
    },
  ]
}
