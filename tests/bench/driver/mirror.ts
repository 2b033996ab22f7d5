/** Trees that were read before: of a window that has not changed, and of a page in which one label has. */
import { type Accessibility, axRoundTrips, type Window } from '@backlot/native'
import type { TestDesktop } from '../../support/desktop.ts'
import { driverCommand, openSocket } from '../../support/driver.ts'
import { until } from '../../support/until.ts'
import { milliseconds, type Row, sideBySide } from './measure.ts'

let firsts = 0

/** What asks for a whole tree; as if for the first time, when other limits than before show that nothing is remembered. */
export const requestFor = (window: Window, { isFirst = false } = {}) => ({
  pid: window.pid,
  window_id: window.window_id,
  title: window.title,
  width: window.width,
  height: window.height,
  bounds: window.bounds,
  max_elements: isFirst ? 1_000_000 + firsts++ : 0,
  max_depth: 0,
  timeout_ms: 30_000,
})

/** An unchanged window again: its tree, its texts, and all of it as the daemon's answer on its socket. */
export const unchangedRows = async (
  on: TestDesktop,
  accessibility: Accessibility,
  window: Window,
  name: string,
): Promise<Row[]> => {
  await on.backlot(['get_config', '{}'])
  const status = JSON.parse((await on.run(driverCommand('status'))).stdout) as { socket: string }
  await using daemon = await openSocket(status.socket)
  const { pid, window_id } = window
  const request = requestFor(window)
  let asked = 0
  let tree = await accessibility.snapshot(request)
  const ask = async (name: string, args: object) => {
    daemon.send({ method: 'call', name, args })
    await daemon.next()
  }
  const look = () => ask('get_window_state', { pid, window_id, capture_mode: 'ax' })
  // Two readers wake each other's application, so each comes to rest alone.
  const atRest = (work: () => unknown) =>
    until(`${name} at rest`, async () => {
      await work()
      const before = axRoundTrips()
      await work()
      return axRoundTrips() === before
    })
  await atRest(() => accessibility.snapshot(request))
  const native = await sideBySide(20, {
    tree: async () => {
      const before = axRoundTrips()
      const took = await milliseconds(async () => {
        tree = await accessibility.snapshot(request)
      })
      asked += axRoundTrips() - before
      return took
    },
    texts: () =>
      milliseconds(() => {
        tree.markdown(null, false)
        tree.elements()
      }),
  })
  await look()
  await look()
  const { answer, nothing } = await sideBySide(50, {
    answer: () => milliseconds(look),
    nothing: () => milliseconds(() => ask('get_config', {})),
  })
  const aim = { of: 'median', atMost: 2 } as const
  return [
    { what: `unchanged window again: tree of ${name}, ${asked} calls`, unit: 'ms', measured: native.tree, aim },
    { what: `its text and elements, ${tree.element_count} of them`, unit: 'ms', measured: native.texts },
    {
      what: 'the whole answer on the socket of the daemon',
      unit: 'ms',
      measured: answer,
      floor: { name: '`get_config` there', spread: nothing },
      aim,
    },
  ]
}

/** The tree of a page in which one label has changed, against its first reading. */
export const changedRow = async (
  accessibility: Accessibility,
  window: Window,
  say: (text: string) => void,
  items: number,
): Promise<Row> => {
  let said = 0
  const { changed, first } = await sideBySide(10, {
    first: () => milliseconds(() => accessibility.snapshot(requestFor(window, { isFirst: true }))),
    changed: async () => {
      // Taken while the page is at rest, so that the only change is the one that is timed.
      await accessibility.settled(window.pid, 200, 5_000)
      await accessibility.snapshot(requestFor(window))
      said += 1
      const [generation, text] = [accessibility.generation(window.pid), `Changed ${said}`]
      say(text)
      await accessibility.waitForEvent(window.pid, generation, 5_000)
      await accessibility.settled(window.pid, 80, 5_000)
      let tree = ''
      const took = await milliseconds(async () => {
        tree = (await accessibility.snapshot(requestFor(window))).markdown(null, false)
      })
      if (!tree.includes(text)) throw new Error(`the tree does not show "${text}"`)
      return took
    },
  })
  return {
    what: `one changed label in a page of ${items} nodes`,
    unit: 'ms',
    measured: changed,
    floor: { name: 'its first reading', spread: first },
    aim: { of: 'ratio', atMost: 0.1 },
  }
}
