/** Several fingers at once: by the emulator, by the agent on the device, or as events of the touch screen that are written to its file. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../../backend.ts'
import type { Connection } from '../adb/connection.ts'
import { quoted } from '../adb/quote.ts'
import { nextPacket, packet, sendPacket } from '../adb/shell-packets.ts'
import type { DeviceAgent } from '../agent/agent.ts'
import type { AndroidDevice } from '../device.ts'
import type { Emulator } from '../emulator/emulator.ts'
import { emulatorTouch } from '../emulator/emulator-touch.ts'
import { screenSize } from '../screen.ts'
import { agentTouch } from './agent-touch.ts'
import { playGesture, type Touch } from './gesture.ts'
import type { ScreenPoint } from './scroll.ts'
import {
  bytesOfEvents,
  downEvents,
  type Fingers,
  moveEvents,
  type Rotation,
  type TouchDevice,
  toTouchCoordinates,
  touchDeviceIn,
  upEvents,
} from './touch-events.ts'

/** A gesture where a caller says no more: milliseconds, and those of one step. */
const usualMs = 400
const stepMs = 20

/** Milliseconds in which a touch screen takes what was sent to it. */
const takenMs = 30_000

/** Bytes that are written to the touch screen at once: a multiple of an event's in programs of 32 and of 64 bits. */
const blockBytes = 4_080

interface EventDevice {
  readonly touch: TouchDevice
  readonly bits: 32 | 64
}

export class TouchScreen {
  #found: EventDevice | undefined

  constructor(
    private readonly device: AndroidDevice,
    private readonly agent: DeviceAgent,
    private readonly emulator: Emulator,
  ) {}

  /** Throws `not_available` where several fingers reach the device by no way. */
  async check(): Promise<void> {
    if (!(await this.emulator.runs()) && !(await this.agent.runs())) await this.find()
  }

  /** Throws `not_available` where there is no touch screen that takes several fingers. */
  async find(signal?: AbortSignal): Promise<EventDevice> {
    if (this.#found !== undefined) return this.#found
    const options = signal === undefined ? {} : { signal }
    const touch = touchDeviceIn(await this.device.run(['getevent', '-p'], options))
    if (touch === undefined) {
      throw new Failure('not_available', 'The device has no touch screen that takes several fingers (`getevent -p`).')
    }
    const list = await this.device.run(['getprop', 'ro.product.cpu.abilist64'], options)
    this.#found = { touch, bits: list.trim() === '' ? 32 : 64 }
    return this.#found
  }

  /** Moves one finger along a path in the time. */
  async drag(path: readonly ScreenPoint[], takesMs: number, signal: AbortSignal): Promise<void> {
    const steps = Math.max(path.length - 1, Math.floor(takesMs / stepMs))
    const frames = Array.from({ length: steps + 1 }, (_, step) => [along(path, step / steps)])
    await this.play(frames, takesMs, signal)
  }

  /** Puts the fingers of the first frame down, moves them from frame to frame in the time, and lifts them, also when given up. */
  async play(frames: readonly Fingers[], takesMs: number, signal: AbortSignal): Promise<void> {
    if (await this.emulator.runs()) {
      const [screen, turn] = await Promise.all([screenSize(this.device, signal), this.#turn(signal)])
      const upright = turn % 2 === 0 ? [screen.width, screen.height] : [screen.height, screen.width]
      const most = upright.map((pixels) => pixels - 1) as [number, number]
      const placed = frames.map((fingers) => fingers.map((place) => toTouchCoordinates(place, screen, turn, most)))
      return playGesture(emulatorTouch(this.emulator), placed, takesMs, signal)
    }
    if (await this.agent.runs()) return playGesture(agentTouch(this.agent), frames, takesMs, signal)
    const { touch, bits } = await this.find(signal)
    const [screen, turn] = await Promise.all([screenSize(this.device, signal), this.#turn(signal)])
    const placed = frames.map((fingers) => fingers.map((place) => toTouchCoordinates(place, screen, turn, touch.most)))
    const count = placed[0]?.length ?? 0
    if (count > touch.mostSlot + 1) {
      throw new Failure('not_available', `The touch screen takes ${touch.mostSlot + 1} fingers, not ${count}.`)
    }
    signal.throwIfAborted()
    using connection = await this.device.adb.open(
      `shell,v2,raw:exec dd bs=${blockBytes} conv=notrunc of=${quoted(touch.path)}`,
    )
    const send = (events: Parameters<typeof bytesOfEvents>[0]) =>
      sendPacket(connection, packet.stdin, bytesOfEvents(events, bits))
    const kernel: Touch = {
      down: (fingers) => send(downEvents(fingers, touch)),
      move: (fingers) => send(moveEvents(fingers)),
      async up() {
        await send(upEvents(count, touch))
        await sendPacket(connection, packet.closeStdin, new Uint8Array())
        // What is let go of now would end before it has lifted the fingers.
        await taken(connection)
      },
    }
    await playGesture(kernel, placed, takesMs, signal)
  }

  /** How the screen is turned; the words differ between versions of Android. */
  async #turn(signal: AbortSignal): Promise<Rotation> {
    const said = await this.device.run(['dumpsys', 'input'], { signal })
    const [, quarters, degrees] = /SurfaceOrientation:\s*([0-3])|orientation=(?:Rotation)?(\d+)/.exec(said) ?? []
    const number = Number(quarters ?? degrees ?? 0)
    return (number > 3 ? (number / 90) % 4 : number) as Rotation
  }
}

/** Settles when the touch screen has taken all events. Throws `device_failed` where it has not. */
const taken = async (connection: Connection): Promise<void> => {
  const late = setTimeout(() => connection[Symbol.dispose](), takenMs)
  const said: Buffer[] = []
  try {
    for (;;) {
      const { id, bytes } = await nextPacket(connection)
      if (id === packet.stderr) said.push(bytes)
      if (id !== packet.exit) continue
      if (bytes[0] === 0) return
      throw new Failure('device_failed', `The touch screen takes no events: ${Buffer.concat(said).toString().trim()}`)
    }
  } finally {
    clearTimeout(late)
  }
}

/** The point of a path after a part of it from 0 to 1, each of its pieces taking as long. */
const along = (path: readonly ScreenPoint[], part: number): ScreenPoint => {
  const at = Math.min(path.length - 2, Math.floor(part * (path.length - 1)))
  const [[x1, y1], [x2, y2]] = [path[at], path[at + 1]] as [ScreenPoint, ScreenPoint]
  const rest = part * (path.length - 1) - at
  return [x1 + (x2 - x1) * rest, y1 + (y2 - y1) * rest]
}

export const touchHandlers = (touch: TouchScreen) =>
  ({
    async multitouch_gesture({ fingers, duration_ms = usualMs, steps = 0 }, { signal }) {
      const count = steps === 0 ? Math.max(Math.floor(duration_ms / stepMs), 5) : steps
      const frames = Array.from({ length: count + 1 }, (_, step) =>
        fingers.map(({ start, end }) => along([start as [number, number], end as [number, number]], step / count)),
      )
      await touch.play(frames, duration_ms, signal)
      return {}
    },
  }) satisfies Handlers
