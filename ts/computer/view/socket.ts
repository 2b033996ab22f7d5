/**
 * The WebSocket of one viewer. Binary messages are the screen's (RFB, RFC 6143); text messages are JSON: the page sends
 * `{"type": "take_over"}` and `{"type": "release"}`, and is told `{"type": "control", "mine": …, "taken": …}`.
 */
import { type ScreenAddress, type SocketHandler, screenHandler } from '@backlot/serve'
import type { Person } from '../person.ts'
import { InputFilter } from './input-filter.ts'
import { Viewer } from './viewers.ts'

/** Handles one; it lets go of the computer when its socket ends, however that comes. Who is `viewOnly` never takes over. */
export const viewerSocket = (screen: ScreenAddress, person: Person, viewOnly: boolean): SocketHandler => {
  const viewer = new Viewer(person)
  const filter = new InputFilter(() => viewer.mayAct)
  const bridge = screenHandler(screen)
  let unfollow = () => {}
  return {
    open(socket) {
      const tell = () =>
        socket.send(JSON.stringify({ type: 'control', mine: viewer.mayAct, taken: person.hasTakenOver }))
      unfollow = person.follow(tell)
      tell()
      return bridge.open?.(socket)
    },
    message(socket, message) {
      if (typeof message !== 'string') {
        try {
          const passed = filter.pass(message)
          if (passed.byteLength > 0) return bridge.message(socket, Buffer.from(passed))
        } catch (error) {
          socket.close(1003, (error as Error).message)
        }
        return undefined
      }
      const asked = typeOf(message)
      if (asked === 'take_over' && !viewOnly) viewer.takeOver()
      else if (asked === 'release') viewer.release()
      return undefined
    },
    drain: (socket) => bridge.drain?.(socket),
    close(socket, code, reason) {
      unfollow()
      viewer.release()
      return bridge.close?.(socket, code, reason)
    },
  }
}

const typeOf = (message: string): unknown => {
  try {
    return (JSON.parse(message) as { type?: unknown } | null)?.type
  } catch {
    return undefined
  }
}
