/** All tools, in the specification's order; a new tool is one line here. */
import { Failure } from '@backlot/contract/failure'
import { killApp, launchApp, listApps } from '../tools/apps.ts'
import { click } from '../tools/click.ts'
import { clipboardRead, clipboardWrite } from '../tools/clipboard.ts'
import { getConfig, setConfig } from '../tools/config.ts'
import {
  getAgentCursorState,
  moveCursor,
  setAgentCursorEnabled,
  setAgentCursorMotion,
  setAgentCursorStyle,
} from '../tools/cursor.ts'
import { getDesktopState } from '../tools/desktop-state.ts'
import { setWindowFrame } from '../tools/frame.ts'
import { bringToFront } from '../tools/front.ts'
import { hotkey, pressKey } from '../tools/keyboard.ts'
import { invokeMenu } from '../tools/menu.ts'
import { page } from '../tools/page.ts'
import { checkPermissions } from '../tools/permissions.ts'
import { doubleClick, drag, rightClick } from '../tools/pointer.ts'
import { getRecordingState, startRecording, stopRecording } from '../tools/recording.ts'
import { replayOf } from '../tools/replay.ts'
import { getCursorPosition, getScreenSize } from '../tools/screen.ts'
import { scroll } from '../tools/scroll.ts'
import { endSession, startSession } from '../tools/sessions.ts'
import { getWindowState } from '../tools/state.ts'
import { runStepsOf } from '../tools/steps.ts'
import { typeText } from '../tools/text.ts'
import { checkForUpdate } from '../tools/update.ts'
import { setValue } from '../tools/values.ts'
import { waitFor } from '../tools/wait.ts'
import { getAccessibilityTree, listWindows } from '../tools/windows.ts'
import { zoom } from '../tools/zoom.ts'
import { nearest } from './check.ts'
import { isOffered } from './extensions.ts'
import type { Tool } from './tool.ts'

/** For tools that hold calls, which are made before all are known. */
function found(name: string): Tool {
  const tool = findTool(name)
  if (tool === undefined) throw unknownTool(name)
  return tool
}

/** Every tool that can be called. */
export const tools: readonly Tool[] = [
  listApps,
  listWindows,
  getWindowState,
  getAccessibilityTree,
  getScreenSize,
  getCursorPosition,
  getConfig,
  getRecordingState,
  getAgentCursorState,
  launchApp,
  killApp,
  bringToFront,
  click,
  doubleClick,
  rightClick,
  drag,
  typeText,
  pressKey,
  hotkey,
  setValue,
  scroll,
  moveCursor,
  zoom,
  page,
  startRecording,
  stopRecording,
  replayOf(found),
  setConfig,
  startSession,
  endSession,
  setAgentCursorEnabled,
  setAgentCursorMotion,
  setAgentCursorStyle,
  checkPermissions,
  checkForUpdate,
  runStepsOf(found),
  waitFor,
  invokeMenu,
  setWindowFrame,
  clipboardRead,
  clipboardWrite,
  getDesktopState,
]

const byName = new Map(tools.map((tool) => [tool.name, tool]))

/** The tool of that name. */
export const findTool = (name: string): Tool | undefined => byName.get(name)

/** The failure `unknown_tool`, with the nearest name. */
export const unknownTool = (name: string, extensions = true): Failure => {
  const names = tools.filter((tool) => isOffered(tool, extensions)).map((tool) => tool.name)
  const near = nearest(name, names)
  return new Failure(
    'unknown_tool',
    `There is no tool "${name}".${near === undefined ? '' : ` Did you mean "${near}"?`} Tools: ${names.join(', ')}.`,
    { nearest: near ?? null },
  )
}
