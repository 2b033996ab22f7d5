/** Trees against the bare bulk read of the same window over the same socket, and what an element click asks. */
import { type Accessibility, axRoundTrips, type Desktop, type Window } from '@backlot/native'
import { milliseconds, type Row, sideBySide } from './measure.ts'

let firsts = 0

/** What asks for a whole tree; as if for the first time, when other limits than before show that nothing is remembered. */
export const requestFor = (window: Window, { isFirst = false } = {}) => ({
  pid: window.pid,
  window_id: window.window_id,
  title: window.title,
  bounds: window.bounds,
  max_elements: isFirst ? 1_000_000 + firsts++ : 0,
  max_depth: 0,
  timeout_ms: 30_000,
})

/** The tree of a window, read as if for the first time. */
export const treeRow = async (
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
    what: `tree, text and elements of ${name}, ${items} nodes`,
    unit: 'ms',
    measured: snapshot,
    floor: { name: '`GetItems`', spread: getItems },
    aim: { of: 'ratio', atMost: timesFloor },
  }
}

/** What the click of a button asks of the application. */
export const elementClickRow = async (
  accessibility: Accessibility,
  desktop: Desktop,
  pid: number,
  label: string,
): Promise<Row> => {
  const window = (await desktop.windows()).find((candidate) => candidate.pid === pid)
  if (window === undefined) throw new Error(`process ${pid} has no window`)
  const tree = await accessibility.snapshot(requestFor(window))
  const index = Array.from({ length: tree.element_count }, (_, at) => at).find(
    (at) => tree.element(at)?.label === label,
  )
  if (index === undefined) throw new Error(`there is no element "${label}"`)
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
}
