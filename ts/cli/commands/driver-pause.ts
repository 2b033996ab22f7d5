/** `backlot-driver pause`: halts all actions. */
import { pauseCommand } from '../pause.ts'

export const command = pauseCommand(
  'pause',
  'Halt all actions of all agents on this display.',
  'All actions are paused; `backlot-driver resume` lets them go on.',
)
