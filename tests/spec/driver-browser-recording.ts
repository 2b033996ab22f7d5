/** Requirements of the driver's browser, recording and cursor tools. */
import { needsMac, needsWindows } from './reasons.ts'
import type { Rows } from './requirement.ts'

export const driverBrowserRecording = {
  'driver.page.call': 'page is called in both forms; action is required.',
  'driver.page.execute-javascript': '`execute_javascript` runs JavaScript and gives its result.',
  'driver.page.javascript-required': '`execute_javascript` requires `javascript`.',
  'driver.page.get-text': '`get_text` gives the visible text.',
  'driver.page.query-dom': '`query_dom` gives the elements that match css_selector.',
  'driver.page.attributes': 'They come with the attributes that `attributes` lists.',
  'driver.page.click-element': '`click_element` clicks the element that matches selector.',
  'driver.page.click-element-cursor': 'The agent cursor glides to its centre first.',
  'driver.page.apple-events': {
    text: '`enable_javascript_apple_events` patches the preferences of a browser and relaunches it.',
    deferred: needsMac,
  },
  'driver.page.apple-events-confirmed': {
    text: 'It needs bundle_id, and user_has_confirmed_enabling true.',
    deferred: needsMac,
  },
  'driver.page.target': '`pid` and `window_id` say which page.',
  'driver.page.scripting-bridge': {
    text: 'Chromium-family browsers and Safari are reached through a scripting bridge.',
    deferred: needsMac,
  },
  'driver.page.embedded-chromium': 'Apps with embedded Chromium are reached through CDP.',
  'driver.page.windows-reads': { text: 'On Windows reads go through UI Automation.', deferred: needsWindows },
  'driver.page.windows-cdp': {
    text: 'On Windows JavaScript goes through CDP when a debugging port is set.',
    deferred: needsWindows,
  },
  'driver.page.web-views': 'Web views have fallbacks.',

  'driver.start-recording.call': 'start_recording is called in both forms; output_dir is required.',
  'driver.start-recording.output-dir': '`output_dir` is absolute or begins with `~`.',
  'driver.start-recording.record-video': '`record_video` is false by default.',
  'driver.start-recording.native-macos': {
    text: 'macOS uses its native capture, without another prompt, from 15.0.',
    deferred: needsMac,
  },
  'driver.start-recording.ffmpeg': {
    text: 'On Windows and Linux video needs ffmpeg on PATH.',
    decided: 'films are made by an encoder of our own, and by ffmpeg only where that cannot (docs/decisions/0010)',
  },
  'driver.start-recording.without-ffmpeg': 'Without it turns are still captured; last_error carries the diagnostic.',
  'driver.start-recording.owner': 'The result carries `owner`: the owning session, or null.',

  'driver.stop-recording.call': 'stop_recording is called without arguments in both forms.',
  'driver.stop-recording.any-owner': 'It stops the active recording whoever owns it.',
  'driver.stop-recording.video-path': 'It returns last_video_path when video was on.',

  'driver.replay-trajectory.call': 'replay_trajectory is called in both forms; dir is required.',
  'driver.replay-trajectory.order': 'It calls the recorded tool of each turn again, in lexical order.',
  'driver.replay-trajectory.delay': '`delay_ms` is 500 by default.',
  'driver.replay-trajectory.stop-on-error': '`stop_on_error` is true by default.',
  'driver.replay-trajectory.elements-fail': 'Element-indexed actions fail on replay.',
  'driver.replay-trajectory.pixels-replay': 'Pixel clicks and keyboard tools replay.',
  'driver.replay-trajectory.read-only-unrecorded': 'Read-only tools are not recorded.',
  'driver.replay-trajectory.recorded': 'A replay while recording is itself recorded.',

  'driver.set-agent-cursor-enabled.call': 'set_agent_cursor_enabled is called in both forms; enabled is required.',
  'driver.set-agent-cursor-enabled.cursor-id': '`cursor_id` is `default` by default.',
  'driver.set-agent-cursor-enabled.on': 'The overlay is on by default.',
  'driver.set-agent-cursor-enabled.own': 'Each MCP session owns its cursor.',
  'driver.set-agent-cursor-enabled.seed': 'With accessibility actions alone the cursor appears and pulses in place.',
  'driver.set-agent-cursor-enabled.glide': 'After a pixel click or a move, accessibility clicks glide.',

  'driver.set-agent-cursor-motion.call': 'set_agent_cursor_motion is called in both forms; nothing is required.',
  'driver.set-agent-cursor-motion.cursor-id': '`cursor_id` is `default` by default.',
  'driver.set-agent-cursor-motion.cursor-icon': '`cursor_icon` is arrow, crosshair, hand, dot, or a PNG or SVG path.',
  'driver.set-agent-cursor-motion.cursor-color': '`cursor_color` is a hex or CSS colour.',
  'driver.set-agent-cursor-motion.cursor-label': '`cursor_label` is a string.',
  'driver.set-agent-cursor-motion.cursor-size': '`cursor_size`, 16 by default, is the radius of the dot in points.',
  'driver.set-agent-cursor-motion.cursor-opacity': '`cursor_opacity` is 0 to 1, 0.85 by default.',
  'driver.set-agent-cursor-motion.start-handle': '`start_handle` is 0 to 1, 0.3 by default.',
  'driver.set-agent-cursor-motion.end-handle': '`end_handle` is 0 to 1, 0.3 by default.',
  'driver.set-agent-cursor-motion.arc-size': '`arc_size` is 0 to 1, 0.25 by default.',
  'driver.set-agent-cursor-motion.arc-flow': '`arc_flow` is -1 to 1, 0 by default; above 0 bulges to the destination.',
  'driver.set-agent-cursor-motion.spring': '`spring` is 0.3 to 1, 0.72 by default; 1 does not overshoot.',
  'driver.set-agent-cursor-motion.glide-duration': '`glide_duration_ms` is 50 to 5000, 160 by default.',
  'driver.set-agent-cursor-motion.dwell': '`dwell_after_click_ms` is 0 to 5000, 80 by default.',
  'driver.set-agent-cursor-motion.idle-hide': '`idle_hide_ms` is 0 to 60000, 20000 by default; 0 means never.',

  'driver.set-agent-cursor-style.call': 'set_agent_cursor_style is called in both forms; nothing is required.',
  'driver.set-agent-cursor-style.cursor-id': '`cursor_id` is `default` by default.',
  'driver.set-agent-cursor-style.gradient': '`gradient_colors` are hex, tip to tail; an empty array reverts.',
  'driver.set-agent-cursor-style.bloom': '`bloom_color` is hex; an empty string reverts.',
  'driver.set-agent-cursor-style.image': '`image_path` is a PNG, JPEG, SVG or ICO; an empty string reverts.',
} as const satisfies Rows
