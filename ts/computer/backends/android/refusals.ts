/** Commands that no device can carry out through adb, and what to use instead. */
import type { CommandName } from '@backlot/contract/computer'
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../backend.ts'

const reasons = {
  get_cursor_position: 'a touch screen has no pointer; give every touch its place',
  right_click: 'a touch screen has no right button; a long press is a drag whose ends are one place',
  middle_click: 'a touch screen has no middle button; use left_click',
  drag_to: 'a touch screen has no pointer that a drag could begin at; use drag with both ends',
} as const satisfies Partial<Record<CommandName, string>>

/** A refusal that names the way out. */
export const refusal = (command: string, why: string): Failure =>
  new Failure('not_available', `"${command}" is not for an Android device: ${why}.`, { command })

/** Handlers that refuse. */
export const refusingHandlers: Handlers = Object.fromEntries(
  Object.entries(reasons).map(([command, why]) => [
    command,
    async () => {
      throw refusal(command, why)
    },
  ]),
)
