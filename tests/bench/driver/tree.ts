/** Trees against the bare bulk read of the same window over the same socket, and what an element click asks. */
import { Accessibility, axRoundTrips, type Window } from '@backlot/native'
import { startChromium, startGtk3 } from '../../support/applications.ts'
import { until } from '../../support/until.ts'
import type { BenchDesktop } from './bench-desktop.ts'
import { milliseconds, type Row, sideBySide } from './measure.ts'
import { changedRow, requestFor, unchangedRows } from './mirror.ts'

/** The tree of a window, read as if for the first time. */
const firstRow = async (
  accessibility: Accessibility,
  window: Window,
  name: string,
  timesFloor: number,
): Promise<Row> => {
  const items = await accessibility.cacheItems(window.pid)
  const { snapshot, getItems } = await sideBySide(10, {
    getItems: () => milliseconds(() => accessibility.cacheItems(window.pid)),
    snapshot: () =>
      milliseconds(async () => {
        const tree = await accessibility.snapshot(requestFor(window, { isFirst: true }))
        if (tree.partial !== null) throw new Error(`the tree of ${name} is partial: ${tree.partial}`)
        tree.markdown(null, false)
        tree.elements()
      }),
  })
  return {
    what: `first tree, text and elements of ${name}, ${items} nodes`,
    unit: 'ms',
    measured: snapshot,
    floor: { name: '`GetItems`', spread: getItems },
    aim: { of: 'ratio', atMost: timesFloor },
  }
}

/** A browser on a page of many nodes, which shows what it is told. */
interface Page extends AsyncDisposable {
  readonly window: Window
  say(text: string): void
}

/** Opens a page of about 3,000 nodes and waits until it has been drawn. */
const openPage = async (desktop: BenchDesktop): Promise<Page> => {
  const { promise: drawn, resolve } = Promise.withResolvers<void>()
  const orders = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, serving) => (serving.upgrade(request) ? undefined : new Response(null, { status: 404 })),
    websocket: { open: (page) => void page.subscribe('orders'), message: () => resolve() },
  })
  const rows = '<div><button type="button">Row</button> words beside it</div>'.repeat(930)
  const listening = `<script>
    const orders = new WebSocket('ws://127.0.0.1:${orders.port}/')
    orders.onmessage = ({ data }) => { document.getElementById('told').textContent = data }
    orders.onopen = () => requestAnimationFrame(() => requestAnimationFrame(() => orders.send('drawn')))
  </script>`
  const content = (html: string): string =>
    html.replace('<body>', '<body><p id="told">Told nothing</p>').replace('</body>', `${rows}${listening}</body>`)
  const browser = await startChromium(desktop.on, { content })
  await drawn
  const window = await desktop.windowOf('Chromium', ({ title }) => title.startsWith(browser.title))
  return {
    window,
    say: (text) => void orders.publish('orders', text),
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]()
      await orders.stop(true)
    },
  }
}

/** The bus, joined once the browser has the whole page: one that starts with a reader answers only a part in bulk. */
const joinAfter = async ({ x }: BenchDesktop, { window }: Page): Promise<readonly [Accessibility, items: number]> => {
  const accessibility = await Accessibility.open(null, x)
  const items = await until('the whole page', async () => {
    const known = await accessibility.cacheItems(window.pid)
    return known > 2_900 && known
  })
  return [accessibility, items]
}

/** Trees of a page in Chromium, also after a change, and of a GTK 3 application, also without one. */
export const treeRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const rows: Row[] = []
  {
    await using page = await openPage(desktop)
    const [accessibility, items] = await joinAfter(desktop, page)
    rows.push(await firstRow(accessibility, page.window, 'a page in Chromium', 3))
    rows.push(await changedRow(accessibility, page.window, page.say, items))
    await accessibility.close()
  }
  const started = desktop.on.start(['gtk3-widget-factory'])
  const factory = await desktop.windowOf('gtk3-widget-factory', ({ pid }) => pid === started.pid)
  const accessibility = await Accessibility.open(null, desktop.x)
  rows.push(await firstRow(accessibility, factory, 'gtk3-widget-factory', 6))
  await desktop.end(started)
  const application = await startGtk3(desktop.on, 'controls', { geometry: '420x480+700+300' })
  const controls = await desktop.windowOf('the controls', ({ pid }) => pid === application.pid)
  rows.push(...(await unchangedRows(desktop.on, accessibility, controls, 'one of each GTK 3 control')))
  await accessibility.close()
  await desktop.end(application)
  return rows
}

/** What the click of a button asks of the application. */
export const elementClickRow = async (desktop: BenchDesktop): Promise<Row> => {
  const application = await startGtk3(desktop.on, 'controls', { geometry: '420x480+700+300' })
  const accessibility = await Accessibility.open(null, desktop.x)
  try {
    const window = await desktop.windowOf('the controls', ({ pid }) => pid === application.pid)
    const tree = await accessibility.snapshot(requestFor(window))
    const index = Array.from({ length: tree.element_count }, (_, at) => at).find(
      (at) => tree.element(at)?.label === 'Press me',
    )
    if (index === undefined) throw new Error('there is no element "Press me"')
    const { trips } = await sideBySide(10, {
      trips: async () => {
        const before = axRoundTrips()
        await tree.read(index)
        await tree.perform(index, 'press', 2_000)
        return axRoundTrips() - before
      },
    })
    return {
      what: 'click of an element, read again before it: round trips to the application',
      unit: 'calls',
      measured: trips,
      aim: { of: 'median', atMost: 3 },
    }
  } finally {
    await accessibility.close()
    await desktop.end(application)
  }
}
