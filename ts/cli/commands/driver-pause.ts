/** `backlot-driver pause`: halts all actions. */
import { brakeCommand } from '../brake.ts'

export const command = brakeCommand(
  'pause',
  'Halt all actions of all agents on this display.',
  'All actions are paused; `backlot-driver resume` lets them go on.',
)
