/** Fingers by the emulator, in pixels of the glass, which does not turn with the picture. */
import type { Touch } from '../touch/gesture.ts'
import type { Fingers } from '../touch/touch-events.ts'
import type { Emulator } from './emulator.ts'
import { touchEvent } from './messages.ts'

/** How hard a finger presses, of 1024 that the emulator's glass tells apart. */
const pressure = 512

export const emulatorTouch = (emulator: Emulator): Touch => {
  let last: Fingers = []
  const send = async (fingers: Fingers, pressed: number) => {
    last = fingers
    const touches = fingers.map(([x, y], identifier) => ({ x, y, identifier, pressure: pressed }))
    await emulator.call('sendTouch', touchEvent(touches))
  }
  const become = (fingers: Fingers) => send(fingers, pressure)
  return { down: become, move: become, up: () => send(last, 0) }
}
