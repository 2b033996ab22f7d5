/** A click in the background, until the application has its event. */
import type { Agent } from '@backlot/native'
import type { Application } from '../../support/applications.ts'
import { milliseconds, type Row, sideBySide } from './measure.ts'

/** From the call to the press event that the GTK application journals, both by the clock of the machine. */
export const pixelClickRow = async (agent: Agent, application: Application): Promise<Row> => {
  const click = { window_id: application.windowId, x: 10, y: 300, button: 'left' as const, count: 1, modifiers: [] }
  const times = await sideBySide(30, {
    ping: () => milliseconds(() => agent.ping()),
    arrived: async () => {
      const mark = application.journal.mark()
      const sent = performance.timeOrigin + performance.now()
      await agent.click(click)
      const press = await application.journal.waitFor('the press', ({ type }) => type === 'button-press', mark)
      return Number(press.at) * 1000 - sent
    },
  })
  return {
    what: 'click by pixels, until the application has the press',
    unit: 'ms',
    measured: times.arrived,
    floor: { name: 'one XTEST motion with a sync', spread: times.ping },
    aim: { of: 'median', atMost: 5 },
  }
}
