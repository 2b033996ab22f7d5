/** Many steps in one call against the same steps one by one. */
import { startGtk3 } from '../../support/applications.ts'
import { backlotCommand } from '../../support/backlot.ts'
import type { BenchDesktop } from './bench-desktop.ts'
import { milliseconds, type Row, sideBySide } from './measure.ts'
import { Server } from './server.ts'

interface State {
  readonly elements: readonly { readonly label: string; readonly element_token: string }[]
}

/** Time and size of 20 steps on common controls. */
export const stepsRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const application = await startGtk3(desktop.on, 'controls', { geometry: '420x480+700+300' })
  await using server = await Server.open(desktop.on, backlotCommand('mcp'))
  const target = { pid: application.pid, window_id: application.windowId }
  const { structuredContent } = await server.call<State>('get_window_state', { ...target, capture_mode: 'ax' })
  const token = (label: string) => {
    const found = structuredContent?.elements.find((each) => each.label === label)
    if (found === undefined) throw new Error(`there is no element "${label}"`)
    return { element_token: found.element_token }
  }
  let round = 0
  const steps = () => {
    round += 1
    return Array.from({ length: 5 }, (_, turn) => [
      { tool: 'click', arguments: token('Check me') },
      { tool: 'set_value', arguments: { ...token('Name'), value: `round ${round}, turn ${turn}` } },
      { tool: 'set_value', arguments: { ...token('Count'), value: String((round * 5 + turn) % 100) } },
      { tool: 'click', arguments: token(turn % 2 === 0 ? 'Coffee' : 'Tea') },
    ]).flat()
  }
  const size = async (work: () => Promise<unknown>): Promise<number> => {
    const before = server.received
    await work()
    return (server.received - before) / 1024
  }
  const one = (tool: string, args: object) => server.call(tool, { ...target, ...args })
  const oneByOne = async (extra: object = {}) => {
    for (const { tool, arguments: args } of steps()) await one(tool, { ...args, ...extra })
  }
  const looking = async (capture: object) => {
    for (const { tool, arguments: args } of steps()) {
      await one(tool, args)
      await one('get_window_state', capture)
    }
  }
  const together = (extra: object = {}) => one('run_steps', { steps: steps(), ...extra })
  const times = await sideBySide(10, {
    together: () => milliseconds(() => together()),
    oneByOne: () => milliseconds(() => oneByOne()),
  })
  const sizes = await sideBySide(1, {
    together: () => size(() => together({ observe: true })),
    observed: () => size(() => oneByOne({ observe: true })),
    trees: () => size(() => looking({ capture_mode: 'ax' })),
    states: () => size(() => looking({})),
  })
  await desktop.end(application)
  const what = '`run_steps` of 20 steps and one observation'
  return [
    {
      what: '`run_steps` of 20 steps over MCP',
      unit: 'ms',
      measured: times.together,
      floor: { name: 'the 20 calls', spread: times.oneByOne },
      aim: { of: 'ratio', atMost: 1 },
    },
    ...(
      [
        ['20 calls with `observe`', sizes.observed],
        ['20 calls, each with the tree after it', sizes.trees],
        ['20 calls, each with tree and picture after it', sizes.states],
      ] as const
    ).map(
      ([name, spread]): Row => ({
        what,
        unit: 'KB',
        measured: sizes.together,
        floor: { name, spread },
        aim: { of: 'ratio', atMost: 0.1 },
      }),
    ),
  ]
}
