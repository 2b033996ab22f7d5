/** The person at the desktop: whoever shares it with an agent must not notice. */
import { expect } from 'bun:test'
import { type Application, type Geometry, startGtk3 } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { until } from './until.ts'
import { asPerson, type DisplayState, displayState } from './witness/index.ts'

/** A person's window, which covers what lies behind it, holds the focus and has the pointer over it. */
export interface Person {
  readonly window: Application
  /** Moves the window, and the pointer with it. */
  moveTo(x: number, y: number): Promise<void>
  /**
   * Runs what an agent does, and then expects that the person's pointer, focus, active window and window stacking are
   * what they were, and that the person's window has seen no event but those whose type is `tolerated`.
   */
  undisturbed<T>(work: () => Promise<T>, tolerated?: readonly string[]): Promise<T>
}

const ofPerson = ({ pointer, focus, active_window, stacking }: DisplayState) => ({
  pointer,
  focus,
  active_window,
  stacking,
})

/** Seats a person in front of a desktop, whose pointer rests at a place of the person's window. */
export const seatPerson = async (
  on: TestDesktop,
  geometry: Geometry = '760x640+40+40',
  rest = { x: 300, y: 400 },
): Promise<Person> => {
  const window = await startGtk3(on, 'person', { geometry })
  await asPerson.activate(on, window.windowId)
  await window.journal.waitFor(
    'the focus of the person',
    ({ type, focused }) => type === 'focus-change' && focused === true,
  )
  await until('the window of the person to be the active one', async () => {
    const { active_window, focus } = await displayState(on)
    // GDK gives the focus on to a window that it made right after it.
    return active_window === window.windowId && focus === window.windowId + 1
  })
  const pointInto = async (x: number, y: number) => {
    // Where it is there already, nothing would be told.
    await asPerson.point(on, x + rest.x + 1, y + rest.y)
    const mark = window.journal.mark()
    await asPerson.point(on, x + rest.x, y + rest.y)
    // It enters first, and GTK tells a motion as late as its next frame.
    await window.journal.waitFor(
      'the pointer of the person',
      ({ type, x_root, y_root }) => type === 'motion-notify' && x_root === x + rest.x && y_root === y + rest.y,
      mark,
    )
  }
  const [left, top] = geometry.split('+').slice(1).map(Number)
  await pointInto(left ?? 0, top ?? 0)
  return {
    window,
    async moveTo(x, y) {
      await asPerson.move(on, window.windowId, x, y)
      await pointInto(x, y)
    },
    async undisturbed(work, tolerated = []) {
      const before = ofPerson(await displayState(on))
      const mark = window.journal.mark()
      const result = await work()
      expect(ofPerson(await displayState(on))).toEqual(before)
      expect(window.journal.entries(mark).filter(({ type }) => !tolerated.includes(type))).toEqual([])
      return result
    },
  }
}
