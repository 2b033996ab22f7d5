/** Failures of windows, input, programs, pictures and the clipboard. */
import { kinds } from './kind.ts'

export const desktopFailures = kinds({
  window_not_found: { when: 'No window has that id.', exit: 1 },
  window_not_of_process: { when: 'The window belongs to another process than the one named.', exit: 1 },
  process_has_no_window: { when: 'No window was named and the process has none.', exit: 1 },
  window_not_visible: {
    when: 'A pixel action needs a window on the screen, and it is minimised or elsewhere.',
    exit: 1,
  },
  condition_not_met: { when: 'What was waited for did not happen in time.', exit: 1 },
  window_manager_refused: {
    when: 'The window manager did not activate, move or size the window as asked, or there is none.',
    exit: 1,
  },
  point_outside_window: { when: 'The coordinates lie outside the window.', exit: 1 },
  zoom_required: { when: '`from_zoom` is true and the process or the window has no zoom picture.', exit: 1 },
  window_covered: {
    when: 'Another window lies over the point inside the same frame, where no pointer gets through.',
    exit: 1,
  },
  unknown_key: { when: 'No key has that name.', exit: 1 },
  unsupported_key: { when: 'The key exists on other platforms only.', exit: 1 },
  unknown_modifier: { when: 'No modifier has that name.', exit: 1 },
  application_in_use: {
    when: 'The person works in another window of an application that reads all its keys in one.',
    exit: 1,
  },
  text_not_typable: { when: 'Keys cannot bring some of the characters to the window unchanged.', exit: 1 },
  input_unavailable: { when: 'The X server lacks an extension that input is made of.', exit: 1 },
  foreground_only: {
    when: "The display takes input for the window in front only, through the person's own pointer and keyboard.",
    exit: 1,
  },
  too_many_agents: { when: 'The X server has no room for the pointer and keyboard of another agent.', exit: 1 },
  agent_closed: { when: "The agent's pointer was closed before the call.", exit: 1 },
  overlay_unavailable: { when: 'The X server lacks what a cursor is shown with.', exit: 1 },
  cursor_image_unreadable: { when: 'The image for a cursor cannot be read, is too large or shows nothing.', exit: 1 },
  target_required: { when: 'An action names neither an element nor a point.', exit: 1 },
  target_ambiguous: { when: 'An action names both an element and a point.', exit: 1 },
  display_unavailable: { when: 'No display can be opened under that name.', exit: 1 },
  display_lost: { when: 'The connection to the display is gone.', exit: 1 },
  display_refused: { when: 'The X server refused a request.', exit: 1 },
  process_not_found: { when: 'No process has that pid.', exit: 1 },
  protected_process: {
    when: 'The process keeps this desktop or the driver alive and is not ended.',
    exit: 1,
  },
  process_not_killed: { when: 'The process may not be ended by this user, or it did not end.', exit: 1 },
  app_not_found: { when: 'No application has that bundle_id or name.', exit: 1 },
  app_not_named: { when: 'Neither bundle_id nor name says what to launch.', exit: 1 },
  launch_failed: { when: 'The program could not be started, or ended at once with an error.', exit: 1 },
  terminal_not_found: { when: 'The application wants a terminal and none is installed.', exit: 1 },
  capture_failed: { when: 'The pixels of a window or of the screen cannot be read.', exit: 1 },
  film_not_written: { when: 'The film of a display cannot be written where it was to be.', exit: 1 },
  clipboard_timeout: { when: 'The program that owns the clipboard does not answer.', exit: 1 },
  clipboard_too_large: { when: 'The clipboard holds more than 64 MiB in one form.', exit: 1 },
})
