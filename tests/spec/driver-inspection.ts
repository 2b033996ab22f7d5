/** Requirements of the driver's inspection, configuration and maintenance tools. */
import { needsMac } from './reasons.ts'
import type { Rows } from './requirement.ts'

export const driverInspection = {
  'driver.list-apps.call': 'list_apps is called without arguments, over MCP and from the shell.',
  'driver.list-apps.running-and-installed': 'It lists running apps and installed ones that do not run.',
  'driver.list-apps.regular-only': 'Helpers and agents in the background are left out.',
  'driver.list-apps.folders': 'Installed apps come from the system and user application folders and their subfolders.',

  'driver.list-windows.call': 'list_windows is called over MCP and from the shell.',
  'driver.list-windows.top-level': 'It lists the top-level windows that the window server knows, off-screen ones too.',
  'driver.list-windows.on-screen-only': '`on_screen_only` (false by default) drops windows not on the current space.',
  'driver.list-windows.pid': '`pid` limits the list to the windows of that process.',

  'driver.get-window-state.call': 'get_window_state takes pid and window_id, over MCP and from the shell.',
  'driver.get-window-state.pid-required': '`pid` is required.',
  'driver.get-window-state.window-id-required': '`window_id` is required.',
  'driver.get-window-state.som': '`capture_mode` is `som` by default: the Markdown tree and a PNG.',
  'driver.get-window-state.vision': '`capture_mode` `vision` gives the screenshot only.',
  'driver.get-window-state.ax': '`capture_mode` `ax` gives the tree only.',
  'driver.get-window-state.query': '`query` keeps the lines that contain it in any case, and their ancestors.',
  'driver.get-window-state.query-keeps-indices': '`query` leaves element_index values as they are.',
  'driver.get-window-state.out-file': '`screenshot_out_file` writes the PNG there in place of base64.',
  'driver.get-window-state.out-file-home': 'A `~` in `screenshot_out_file` is the home folder.',
  'driver.get-window-state.out-file-path': 'The structured result then carries screenshot_file_path.',
  'driver.get-window-state.before-actions': 'An element index is used after a snapshot of the same (pid, window_id).',

  'driver.get-accessibility-tree.call': 'get_accessibility_tree is called without arguments in both forms.',
  'driver.get-accessibility-tree.apps': 'It holds the running regular apps.',
  'driver.get-accessibility-tree.windows': 'It holds the windows on screen with bounds, z-order and owner pid.',
  'driver.get-accessibility-tree.no-grants': 'It needs no permission grants.',

  'driver.get-screen-size.call': 'get_screen_size is called without arguments in both forms.',
  'driver.get-screen-size.size': 'It gives the logical size of the main display in points.',
  'driver.get-screen-size.scale-factor': 'It gives scale_factor.',
  'driver.get-screen-size.retina': { text: 'scale_factor is 2.0 on Retina displays.', deferred: needsMac },
  'driver.get-screen-size.no-grants': 'It needs no permission grants.',

  'driver.get-cursor-position.call': 'get_cursor_position is called without arguments in both forms.',
  'driver.get-cursor-position.points': 'It gives the position of the mouse in screen points from the top left.',

  'driver.get-config.call': 'get_config gives the current configuration, without arguments, in both forms.',

  'driver.get-recording-state.call': 'get_recording_state is called without arguments in both forms.',
  'driver.get-recording-state.read-only': 'It changes nothing.',
  'driver.get-recording-state.enabled': 'It says whether recording is enabled and into which folder.',
  'driver.get-recording-state.next-turn': 'It gives the number, from 1, of the next turn folder.',

  'driver.get-agent-cursor-state.call': 'get_agent_cursor_state gives the state of a cursor in both forms.',
  'driver.get-agent-cursor-state.cursor-id': '`cursor_id` says which cursor.',
  'driver.get-agent-cursor-state.order': 'cursor_id wins, then the session, then `default`.',

  'driver.set-config.call': 'set_config is called in both forms; every argument is optional.',
  'driver.set-config.capture-mode': '`capture_mode` applies immediately.',
  'driver.set-config.max-image-dimension': '`max_image_dimension` applies immediately.',
  'driver.set-config.experimental-pip': '`experimental_pip` is written to the file and applies after the next restart.',
  'driver.set-config.experimental-pip-geometry': '`experimental_pip_geometry` does so too.',
  'driver.set-config.session-override': 'From a proxied MCP session the change lives in that session only.',
  'driver.set-config.session-dropped': 'The change of a session is dropped when its client disconnects.',
  'driver.set-config.linux-writes-shared': {
    text: 'On Windows and Linux a proxied session still writes the shared configuration.',
    decided: 'a session keeps its override in memory on every platform (docs/decisions/0008)',
  },
  'driver.set-config.precedence': 'The argument of the call wins, then the override of the session, then the default.',
  'driver.set-config.anonymous-persists': 'The anonymous path writes the persisted default, and nothing else does.',

  'driver.start-session.call': 'start_session declares a session in both forms.',
  'driver.start-session.session-required': '`session` is required.',
  'driver.start-session.idempotent': 'Starting a session again succeeds.',
  'driver.end-session.call': 'end_session ends a session in both forms.',
  'driver.end-session.session-required': '`session` is required.',
  'driver.end-session.idempotent': 'Ending a session again succeeds.',

  'driver.check-permissions.call': 'check_permissions reports the Accessibility and Screen Recording grants.',
  'driver.check-permissions.prompt': {
    text: '`prompt` (true by default) raises the prompts of the system for missing grants.',
    deferred: `an X11 session has no such prompts; ${needsMac}`,
  },
  'driver.check-permissions.read-only': '`prompt` false only reads.',
  'driver.check-permissions.repeatable': 'It is safe to call it again.',

  'driver.check-for-update.call': 'check_for_update is called without arguments in both forms.',
  'driver.check-for-update.versions': 'It gives the current and the latest version, and update_available.',
  'driver.check-for-update.install-line': 'It gives the line that installs.',
  'driver.check-for-update.release-notes': 'It gives the address of the release notes.',
  'driver.check-for-update.never-installs': 'It reads only and never installs.',
} as const satisfies Rows
