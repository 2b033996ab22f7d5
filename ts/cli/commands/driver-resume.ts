/** `backlot-driver resume`: lets actions go on. */
import { brakeCommand } from '../brake.ts'

export const command = brakeCommand('resume', 'Let agents act again after a pause.', 'Agents may act again.')
