/** Fingers by the agent on the device, in pixels of the screen as it is turned. */
import type { DeviceAgent } from '../agent/agent.ts'
import type { Touch } from './gesture.ts'
import type { Fingers } from './touch-events.ts'

export const agentTouch = (agent: DeviceAgent): Touch => {
  // It takes no time by itself, and who gives a gesture up waits until its fingers are lifted.
  const become = async (fingers: Fingers) => {
    await agent.ask({ ask: 'touch', fingers: fingers.map(([x, y], finger) => [finger, x, y] as const) })
  }
  return { down: become, move: become, up: () => become([]) }
}
