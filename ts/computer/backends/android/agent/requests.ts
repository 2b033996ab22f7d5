/**
 * What the agent on a device is asked, as bytes (images/android-agent, Conversation.java); numbers are big-endian. A request is
 * the length of what follows in four bytes, a byte that says what is asked, and its body.
 */

/** The version of the protocol, which the agent answers to `hello`. */
export const agentVersion = 1

/** A finger that is down: its number, and its place in pixels of the screen. */
export type DownFinger = readonly [finger: number, x: number, y: number]

export type AgentRequest =
  | { readonly ask: 'hello' | 'get_clipboard' }
  /** All fingers that are down from now on. */
  | { readonly ask: 'touch'; readonly fingers: readonly DownFinger[] }
  | { readonly ask: 'set_clipboard' | 'type_text'; readonly text: string }
  | { readonly ask: 'set_wallpaper'; readonly path: string; readonly target: WallpaperTarget }

export type WallpaperTarget = 'home' | 'lock' | 'both'

/** The byte of each. */
const codes: Readonly<Record<AgentRequest['ask'], number>> = {
  hello: 1,
  touch: 2,
  get_clipboard: 3,
  set_clipboard: 4,
  set_wallpaper: 5,
  type_text: 6,
}

/** The bits of the screens (WallpaperManager's FLAG_SYSTEM and FLAG_LOCK). */
const screens: Readonly<Record<WallpaperTarget, number>> = { home: 1, lock: 2, both: 3 }

const bodyOf = (request: AgentRequest): Buffer => {
  if ('text' in request) return Buffer.from(request.text)
  if ('path' in request) return Buffer.concat([Buffer.from([screens[request.target]]), Buffer.from(request.path)])
  if (!('fingers' in request)) return Buffer.alloc(0)
  const body = Buffer.alloc(1 + 9 * request.fingers.length)
  body.writeUInt8(request.fingers.length)
  for (const [at, [finger, x, y]] of request.fingers.entries()) {
    body.writeUInt8(finger, 1 + 9 * at)
    body.writeFloatBE(x, 2 + 9 * at)
    body.writeFloatBE(y, 6 + 9 * at)
  }
  return body
}

/** A request as it is sent. */
export const bytesOfRequest = (request: AgentRequest): Buffer => {
  const body = bodyOf(request)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(1 + body.byteLength)
  head.writeUInt8(codes[request.ask], 4)
  return Buffer.concat([head, body])
}
