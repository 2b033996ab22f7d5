/** Requirements of the driver's records and of the states they go through. */
import { needsMac } from './reasons.ts'
import type { Rows } from './requirement.ts'

export const driverRecords = {
  'driver.app.identity': 'An app record carries bundle_id and name.',
  'driver.app.running': '`running` is true when a process of the app lives.',
  'driver.app.active': '`active` is true for the app in front, which then is running.',
  'driver.app.pid': '`pid` is the process id, 0 when the app does not run.',
  'driver.app.launch-path': '`launch_path` is the path of what is installed, when known; launch_app takes it.',
  'driver.app.kind': '`kind` is a string: what kind of application it is.',
  'driver.app.kind-macos': { text: '`kind` is `desktop` for .app bundles on macOS.', deferred: needsMac },
  'driver.app.last-used': '`last_used` is an RFC 3339 timestamp from the file system, or null.',

  'driver.window.window-id': '`window_id` is the integer id of the window.',
  'driver.window.pid': '`pid` is the process that owns the window.',
  'driver.window.app-name': '`app_name` is the name of the owning app.',
  'driver.window.title': '`title` is the title of the window.',
  'driver.window.bounds': '`bounds` holds x, y, width and height, from the top left.',
  'driver.window.z-index': 'A higher `z_index` is nearer the front.',
  'driver.window.is-on-screen': '`is_on_screen` says whether the window is on screen.',
  'driver.window.on-current-space': '`on_current_space` says whether the window is on the current space.',

  'driver.index.tags': 'get_window_state tags each actionable element of its Markdown with `[element_index N]`.',
  'driver.index.scope': 'The index map belongs to one (pid, window_id).',
  'driver.index.replaced': 'The next snapshot of the same window replaces its index map.',
  'driver.index.earlier-invalid': 'Indices of an earlier snapshot of the same window are invalid.',

  'driver.cursor.position': 'A cursor has a `position`, where the overlay is.',
  'driver.cursor.config': 'A cursor has a `config` of color, icon, label, size and opacity.',
  'driver.cursor.enabled': 'A cursor is `enabled`, visible, or hidden.',
  'driver.cursor.addressed': 'A cursor is addressed by cursor_id; the one without is `default`.',
  'driver.cursor.hide': 'set_agent_cursor_enabled with enabled false hides a visible cursor.',
  'driver.cursor.show': 'set_agent_cursor_enabled with enabled true shows a hidden cursor.',
  'driver.cursor.idle-hide': 'A visible cursor hides after idle_hide_ms, and never with 0.',

  'driver.session.same-across-edges':
    'One session id means the same cursor, configuration and recording on every edge.',
  'driver.session.colour': 'The colour of the cursor is derived from the session id.',
  'driver.session.cursor-id-alias': '`cursor_id` is a legacy alias of the session.',
  'driver.session.anonymous': 'Calls without a session run without a cursor overlay.',
  'driver.session.begins': 'start_session, or an action that names a session, makes it active.',
  'driver.session.begin-idempotent': 'Starting it again refreshes its idle time-out.',
  'driver.session.cursor-on-first-action': 'The cursor appears on the first action of the session.',
  'driver.session.ends': 'end_session ends a session and is idempotent.',
  'driver.session.end-cleans': 'The end removes its cursor, stops its recording and clears its configuration.',
  'driver.session.idle-timeout': 'A session without activity is reclaimed as end_session does, after 300 s by default.',
  'driver.session.idle-timeout-env': 'DRIVER_SESSION_IDLE_TTL_SECS sets the idle time-out.',
  'driver.session.late-command': 'A late command of an ended session does not bring its cursor back.',

  'driver.turn.folders': 'Turns are folders named turn-00001, turn-00002 and so on.',
  'driver.turn.app-state': 'A turn folder holds app_state.json: the tree of the target pid after the action.',
  'driver.turn.screenshot': 'A turn folder holds screenshot.png: the frontmost window of the target afterwards.',
  'driver.turn.action': 'action.json holds tool, arguments, summary, pid, click point and an ISO 8601 timestamp.',
  'driver.turn.click': 'A click has click.png: the screenshot with a red dot at the click point.',
  'driver.turn.video': 'With video on, recording.mp4 is written to the output folder, H.264 at 30 fps.',
  'driver.recording.starts': 'start_recording enables recording and resets the turn counter to 1.',
  'driver.recording.turns': 'Each of the seven recorded tools writes a turn folder and moves the counter on.',
  'driver.recording.stops': 'stop_recording disables it, finalizes the video and returns last_video_path.',
  'driver.recording.stop-stopped': 'stop_recording on a stopped recording does nothing.',
  'driver.recording.owner-ends': 'A recording ends with the session that owns it, killed or not.',
  'driver.recording.later-unaffected': 'The recording of a later client is not affected by the end of an earlier one.',
  'driver.recording.idle': 'The daemon disables a recording after about 5 minutes without tool activity.',

  'driver.config.capture-mode': '`capture_mode` is the default mode of get_window_state.',
  'driver.config.experimental-pip': '`experimental_pip` turns the picture-in-picture preview on.',
  'driver.config.experimental-pip-geometry': '`experimental_pip_geometry` is `WxH` or `WxH+X+Y`.',
  'driver.config.max-image-dimension': '`max_image_dimension` is the largest dimension of a screenshot; 0 is no limit.',
} as const satisfies Rows
