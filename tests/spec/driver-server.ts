/** Requirements of the driver's server: how it is started and called, its envelope, grants, errors and versions. */
import { needsMac } from './reasons.ts'
import type { Rows } from './requirement.ts'

export const driverServer = {
  'driver.server.mcp-stdio': 'The tools are served over MCP on standard input and output by one server, `mcp`.',
  'driver.server.specified-35': 'The 35 tools that the specification describes are served.',
  'driver.server.announced-33': {
    text: 'The number of tools announced for the server is 33.',
    deferred: 'the same specification describes 35 tools, and all 35 are served',
  },
  'driver.shell.call': 'Every tool is callable from a shell as `<tool_name> JSON`.',
  'driver.shell.same-code-path': 'The shell form and the MCP form run the same code path.',
  'driver.shell.same-names': 'Tool names are snake_case and the same in both forms.',
  'driver.option.socket': '`--socket` says which daemon socket to use.',
  'driver.option.screenshot-out-file': '`--screenshot-out-file` says where the picture is written.',
  'driver.option.no-daemon-relaunch': '`--no-daemon-relaunch` runs the call in the process itself.',

  'driver.daemon.attribution': {
    text: 'A server started from an IDE terminal would be attributed to that terminal by the system.',
    deferred: `permission grants by bundle id exist on macOS only; ${needsMac}`,
  },
  'driver.daemon.proxy':
    'An `mcp` that a client starts from a terminal starts the `serve` daemon and proxies every call through its socket.',
  'driver.daemon.open-command': {
    text: 'The daemon of the driver application is launched by the open command of the system.',
    deferred: needsMac,
  },
  'driver.daemon.same-semantics': 'A tool means the same through the daemon as in the process.',
  'driver.daemon.no-relaunch-flag': '`mcp --no-daemon-relaunch` runs tools in the process.',
  'driver.daemon.no-relaunch-env': 'DRIVER_MCP_NO_RELAUNCH=1 runs tools in the process.',

  'driver.result.text-first': 'A result is a CallToolResult whose first block is text that starts with a summary.',
  'driver.result.failure-text': 'The text of a failed call is the reason of the failure.',
  'driver.result.image-blocks': 'A tool that makes a picture adds it as an image block.',
  'driver.result.structured': 'A tool that produces structured content adds it.',

  'driver.state.daemon-lifetime': 'State lasts as long as the daemon or the MCP session.',
  'driver.state.restart-disables-recording': 'After a restart recording is disabled, with nothing written for it.',

  'driver.auth.no-credentials': 'The tools are called without credentials of the caller.',
  'driver.auth.os-grants': {
    text: 'Access depends on the Accessibility and Screen Recording grants of the driver application.',
    deferred: `an X11 session has no such grants; ${needsMac}`,
  },
  'driver.auth.grantless-tools': 'get_accessibility_tree and get_screen_size need no grants.',

  'driver.event.session-end': 'When the control connection of a proxy closes, the daemon ends its session.',
  'driver.event.session-end-killed': 'A killed proxy ends its session as a graceful exit does.',
  'driver.event.session-end-owned-only': 'The end of a session stops only the recording which that session owns.',

  'driver.errors.reason': 'A failed tool call answers a text block with the reason in place of a summary.',
  'driver.errors.bring-to-front-macos': {
    text: 'bring_to_front on macOS fails and points to the native activation.',
    deferred: needsMac,
  },
  'driver.errors.element-index-needs-window-id.click': 'click refuses element_index without window_id.',
  'driver.errors.element-index-needs-window-id.double-click': 'double_click refuses element_index without window_id.',
  'driver.errors.element-index-needs-window-id.right-click': 'right_click refuses element_index without window_id.',
  'driver.errors.element-index-needs-window-id.type-text': 'type_text refuses element_index without window_id.',
  'driver.errors.right-click-exactly-one': 'right_click refuses both and neither of element_index and (x and y).',
  'driver.errors.replay-stops': 'replay_trajectory reports failures and stops at the first unless told otherwise.',
  'driver.errors.ffmpeg-missing': 'Without a working ffmpeg recording goes on without video; last_error says why.',

  'driver.limits.zoom': 'A zoom picture is at most 500 px wide and padded by 20% on each side.',
  'driver.limits.session-idle': 'A session times out after 300 s without activity by default.',
  'driver.limits.recording-idle': 'The daemon ends a recording after about 5 minutes without tool activity.',
  'driver.limits.drag': 'A drag takes 500 ms and 20 steps by default.',
  'driver.limits.scroll-amount': 'scroll moves by an amount of 3 by default.',
  'driver.limits.type-delay': 'The fallback of type_text waits 30 ms between characters by default.',
  'driver.limits.replay-delay': 'replay_trajectory waits 500 ms between turns by default.',
  'driver.limits.double-click-interval': 'The two clicks of a pixel double click are about 80 ms apart.',
  'driver.limits.cursor-ranges': 'set_agent_cursor_motion keeps its arguments to their stated ranges.',
  'driver.limits.video': 'Video is H.264 at 30 fps.',
  'driver.limits.video-native-macos': { text: 'Native video capture needs macOS 15.0 or later.', deferred: needsMac },
  'driver.limits.max-image-dimension': 'max_image_dimension 0 means that screenshots have no limit.',

  'driver.version.names': 'Tool names are the same in the MCP form and the shell form.',
  'driver.version.update-check': 'check_for_update tells the current and the latest version.',
} as const satisfies Rows
