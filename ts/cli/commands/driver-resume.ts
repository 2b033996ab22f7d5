/** `backlot-driver resume`: lets actions go on. */
import { pauseCommand } from '../pause.ts'

export const command = pauseCommand('resume', 'Let agents act again after a pause.', 'Agents may act again.')
