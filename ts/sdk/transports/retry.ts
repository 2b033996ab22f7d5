/** Trying again where that cannot do anything twice. */
import type { CommandName } from '@backlot/contract/computer'
import { pause } from '../deadline.ts'
import { BacklotError } from '../errors.ts'

/** Commands that only look: sent twice, they do no harm. */
const reads: ReadonlySet<string> = new Set<CommandName>([
  'copy_to_clipboard',
  'directory_exists',
  'file_exists',
  'find_element',
  'get_accessibility_tree',
  'get_active_window_bounds',
  'get_active_window_title',
  'get_application_windows',
  'get_current_window_id',
  'get_cursor_position',
  'get_desktop_environment',
  'get_environment',
  'get_file_size',
  'get_screen_size',
  'get_window_name',
  'get_window_position',
  'get_window_size',
  'list_dir',
  'list_windows',
  'read_bytes',
  'read_text',
  'screenshot',
  'stat',
  'to_screen_coordinates',
  'to_screenshot_coordinates',
  'version',
])

/** Whether a command only looks. */
export const isRead = (action: string): boolean => reads.has(action)

/** Milliseconds before the second try. */
const betweenMs = 100

/**
 * Does work once more where it failed before anything was sent, or was lost and only looks (`isSafe`). The second failure is
 * thrown.
 */
export const retrying = async <T>(isSafe: boolean, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted || !BacklotError.is(error)) throw error
    const { code } = error
    if (!(code === 'unreachable' && error.retryable) && !(isSafe && code === 'connection_lost')) throw error
    await pause(betweenMs, signal)
    return work()
  }
}
