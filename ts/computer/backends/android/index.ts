/** An Android device as the computer, through the local adb server. */

import { Failure } from '@backlot/contract/failure'
import type { Backend } from '../../backend.ts'
import { terminalHandlers } from '../../pty/commands.ts'
import type { Terminals } from '../../pty/terminals.ts'
import { accessibilityHandlers } from './accessibility.ts'
import { DeviceAgent } from './agent/agent.ts'
import { agentHandlers } from './agent/handlers.ts'
import type { AndroidDevice } from './device.ts'
import { clipboardHandlers } from './emulator/clipboard.ts'
import { Emulator } from './emulator/emulator.ts'
import { HeldKeys } from './emulator/held-keys.ts'
import { fileHandlers } from './files/commands.ts'
import { keyboardHandlers } from './keyboard.ts'
import { refusingHandlers } from './refusals.ts'
import { screenHandlers, screenSize } from './screen.ts'
import { deviceShell } from './shell.ts'
import { systemHandlers } from './system.ts'
import { type Finger, pointerHandlers, releaseFinger } from './touch/pointer.ts'
import { TouchScreen, touchHandlers } from './touch/touch-screen.ts'

/** The commands of a device that has booted; who opened the device closes it. */
export const androidBackend = (device: AndroidDevice, terminals: Terminals): Backend => {
  const agent = new DeviceAgent(device.adb)
  const emulator = new Emulator(device.adb.serial)
  const byAgent = agentHandlers(device, agent)
  const touch = new TouchScreen(device, agent, emulator)
  const keys = new HeldKeys(emulator)
  const finger: Finger = { at: undefined }
  const shell = deviceShell(device)
  return {
    osType: 'android',
    handlers: {
      ...refusingHandlers,
      ...systemHandlers(device),
      ...screenHandlers(device),
      ...pointerHandlers(device, touch, finger),
      ...keyboardHandlers(device, agent),
      ...keys.handlers,
      ...touchHandlers(touch),
      ...accessibilityHandlers(device),
      ...shell.handlers,
      ...terminalHandlers(terminals),
      ...fileHandlers(device),
      ...byAgent,
      ...clipboardHandlers(emulator, byAgent),
    },
    probe: () => probe(device, agent, emulator, touch),
    async releaseHeld() {
      await Promise.all([releaseFinger(device, finger), keys.release()])
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([releaseFinger(device, finger), keys.release()])
      await agent[Symbol.asyncDispose]()
      emulator[Symbol.dispose]()
      await shell.end()
    },
  }
}

/** What of the computer works on this device, and why the rest does not. */
const probe = async (device: AndroidDevice, agent: DeviceAgent, emulator: Emulator, touch: TouchScreen) => {
  const works = async (asks: () => Promise<unknown>): Promise<true | string> =>
    asks().then(
      () => true as const,
      (error: unknown) => Failure.from(error).message,
    )
  const has = (program: string) => works(() => device.run(['sh', '-c', `command -v ${program}`]))
  const [display, input, accessibility, touches, shell, windows, clipboard] = await Promise.all([
    works(() => screenSize(device)),
    has('input'),
    has('uiautomator'),
    works(() => touch.check()),
    works(() => device.run(['true'])),
    has('dumpsys'),
    works(async () => (await emulator.runs()) || agent.start()),
  ])
  return {
    display,
    input,
    accessibility,
    touch: touches,
    windows,
    clipboard,
    shell,
    files: shell,
    pty: shell,
    film: 'of a device there is the live film alone, at /view/film',
    view: 'the screen of a device is shown by its own VNC server',
  }
}
