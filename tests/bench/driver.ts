/**
 * `./dev bench driver [--keep]`: the driver against its floors, on the packed build and a private desktop.
 * With `--keep` the table is written to docs/benchmarks.md.
 */
import { join } from 'node:path'
import { Accessibility, Agent, Capturer, Desktop, type Window } from '@backlot/native'
import { startChromium, startGtk3 } from '../support/applications.ts'
import { startChanging } from '../support/changing.ts'
import type { TestDesktop } from '../support/desktop.ts'
import { connect } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'
import { pixelClickRow } from './driver/input.ts'
import { machine, type Row, table } from './driver/measure.ts'
import { changedRow, unchangedRows } from './driver/mirror.ts'
import { pictureRow } from './driver/picture.ts'
import { onDesktop } from './driver/stage.ts'
import { memoryRows, startRows } from './driver/start.ts'
import { elementClickRow, treeRow } from './driver/tree.ts'

const root = join(import.meta.dir, '../..')

const buildFloor = async (): Promise<string> => {
  const cargo = Bun.spawn(['cargo', 'build', '--quiet', '--release', '-p', 'capture', '--example', 'floor'], {
    cwd: root,
  })
  if ((await cargo.exited) !== 0) throw new Error('the floor program of the capture crate does not compile')
  return join(root, 'target', process.env.CARGO_BUILD_TARGET ?? '', 'release', 'examples', 'floor')
}

const longPage =
  (rows: number) =>
  (html: string): string =>
    html.replace('</body>', `${'<div><button type="button">Row</button> words beside it</div>'.repeat(rows)}</body>`)

const measureAll = async (on: TestDesktop): Promise<Row[]> => {
  const program = await buildFloor()
  const { display } = on.desktop
  const x = await Desktop.open(display)
  const capturer = await Capturer.open(x)
  const agent = await Agent.open(x, 'bench')
  const windowOf = (what: string, fits: (window: Window) => boolean): Promise<Window> =>
    until(`a window of ${what}`, async () => (await x.windows()).find(fits))
  const rows: Row[] = []
  const add = async (row: Promise<Row> | Promise<Row[]>) => {
    for (const one of [await row].flat()) {
      rows.push(one)
      console.error(`${one.what}: ${one.measured.median.toFixed(2)} ${one.unit}`)
    }
  }
  let accessibility: Accessibility | undefined
  try {
    {
      await using browser = await startChromium(on, { content: longPage(750) })
      const page = await windowOf('Chromium', ({ title }) => title.startsWith(browser.title))
      await add(pictureRow(program, display, capturer, page, 'a page in Chromium'))
      // A browser that starts with a reader on the bus answers only a part in bulk, so the bus is joined after it.
      const joined = await Accessibility.open(null)
      await until('the whole page', async () => (await joined.cacheItems(page.pid)) > 2_500)
      await add(treeRow(joined, page, 'a page in Chromium', 3))
      joined.close()
    }
    {
      await using client = await connect(on)
      await using changing = await startChanging(on, client, 'chromium', 5, longPage(950))
      const page = await windowOf('the changing page', ({ window_id }) => window_id === changing.window_id)
      const joined = await Accessibility.open(null)
      accessibility = joined
      const items = await until('the whole page', async () => {
        const known = await joined.cacheItems(page.pid)
        return known > 2_900 && known
      })
      await add(changedRow(joined, page, changing, items))
    }
    const started = on.start(['gtk3-widget-factory'])
    const factory = await windowOf('gtk3-widget-factory', ({ pid }) => pid === started.pid)
    await add(treeRow(accessibility, factory, 'gtk3-widget-factory', 6))
    await add(pictureRow(program, display, capturer, factory, 'gtk3-widget-factory'))
    const application = await startGtk3(on, 'controls', { geometry: '420x480+700+300' })
    const controls = await windowOf('the controls', ({ pid }) => pid === application.pid)
    await add(unchangedRows(on, accessibility, controls, 'one of each GTK 3 control'))
    await add(elementClickRow(accessibility, x, application.pid, 'Press me'))
    await add(pixelClickRow(agent, application))
    await add(startRows(on))
    await add(memoryRows(on, { pid: factory.pid, window_id: factory.window_id }))
  } finally {
    await agent.close()
    accessibility?.close()
    capturer.close()
    x.close()
  }
  return rows
}

await onDesktop(import.meta.path, async (on) => {
  const text = `${table(await measureAll(on))}\n\n${machine()}.\n`
  console.log(text)
  if (!process.argv.includes('--keep')) return
  const head = `# Benchmarks

What \`./dev bench driver\` printed last. A time says little without its floor: floor and figure were measured in turn, in
the same run, on the packed build.

`
  await Bun.write(join(root, 'docs/benchmarks.md'), head + text)
})
