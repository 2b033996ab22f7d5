import { expect, test } from 'bun:test'
import { startGtk3 } from '../../support/applications.ts'
import { privateDesktop } from '../../support/desktop.ts'
import { driverCommand } from '../../support/driver.ts'
import { middleOf } from '../../support/look.ts'
import { connect } from '../../support/mcp-client.ts'
import { seatPerson } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { displayState } from '../../support/witness/index.ts'

const on = privateDesktop()

test('what covers a window is whole again after a driver that was killed in the middle of a drag', async () => {
  const app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  const target = { pid: app.pid, window_id: app.windowId }
  await using client = await connect(on())
  const { x, y } = await middleOf(client, target, 'Notes')
  const button = await middleOf(client, target, 'Press me')
  const person = await seatPerson(on(), '1240x740+10+10')
  /** The input shapes of what is larger than the windows that drivers and toolkits keep for themselves. */
  const covers = async () => {
    const { children } = await displayState(on())
    return children.filter(({ input_shape }) => input_shape.some(([, , width = 0]) => width > 100))
  }
  const before = await covers()
  const drag = { ...target, from_x: x - 50, from_y: y, to_x: x + 50, to_y: y, duration_ms: 10_000, steps: 500 }
  for (let round = 1; round <= 3; round += 1) {
    await person.undisturbed(async () => {
      const mark = app.journal.mark()
      const dragging = client.call('drag', drag)
      const motions = () => app.journal.entries(mark).filter(({ type }) => type === 'motion-notify')
      await until('the drag to be under way', () => motions().length > 10 * round)
      const { pid } = JSON.parse((await on().run(driverCommand('status'))).stdout) as { pid: number }
      process.kill(pid, 'SIGKILL')
      expect((await dragging).isError).toBe(true)
      expect(await covers()).not.toEqual(before)
      await client.ask('click', { ...target, ...button })
      await app.journal.waitFor('a click through the next driver', ({ type }) => type === 'clicked', mark)
      expect(await covers()).toEqual(before)
    })
  }
})
