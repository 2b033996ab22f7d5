/** What the touch screen of a device sends for moving fingers: events of the kernel (multi-touch-protocol.rst, type B), as bytes. */
import type { ScreenPoint } from './scroll.ts'

/** The touch screen, as `getevent -p` tells of it. */
export interface TouchDevice {
  /** Its file. */
  readonly path: string
  /** The largest numbers that it gives for places. */
  readonly most: ScreenPoint
  /** The largest slot. */
  readonly mostSlot: number
  /** The largest pressure; undefined where it tells none. */
  readonly mostPressure: number | undefined
  /** Whether it tells by a key that it is touched. */
  readonly hasTouchKey: boolean
}

/** How the screen is turned from its own upright, in quarters. */
export type Rotation = 0 | 1 | 2 | 3

/** Where each finger is; one entry a finger. */
export type Fingers = readonly ScreenPoint[]

const [EV_SYN, EV_KEY, EV_ABS] = [0, 1, 3]
const BTN_TOUCH = 0x14a
const [ABS_MT_SLOT, ABS_MT_POSITION_X, ABS_MT_POSITION_Y, ABS_MT_TRACKING_ID, ABS_MT_PRESSURE] = [
  0x2f, 0x35, 0x36, 0x39, 0x3a,
]

type Event = readonly [type: number, code: number, value: number]

/** The touch screen among the devices that `getevent -p` lists; undefined where none takes several fingers by slots. */
export const touchDeviceIn = (listed: string): TouchDevice | undefined => {
  for (const text of listed.split(/^add device \d+: /m).slice(1)) {
    const most = (code: number): number | undefined => {
      const [, found] =
        new RegExp(`\\b${code.toString(16).padStart(4, '0')}\\s+: value -?\\d+, min -?\\d+, max (\\d+)`).exec(text) ??
        []
      return found === undefined ? undefined : Number(found)
    }
    const [x, y, slot] = [most(ABS_MT_POSITION_X), most(ABS_MT_POSITION_Y), most(ABS_MT_SLOT)]
    if (x === undefined || y === undefined || slot === undefined) continue
    const keys = /KEY \(0001\):([^:]*?)(?:\n\s+[A-Z]+ \(|\n\s+input props|$)/.exec(text)?.[1] ?? ''
    return {
      path: text.split('\n')[0]?.trim() ?? '',
      most: [x, y],
      mostSlot: slot,
      mostPressure: most(ABS_MT_PRESSURE),
      hasTouchKey: keys.includes('014a'),
    }
  }
  return undefined
}

/** A point of the screen in the numbers of the touch screen, which turns with the glass and not with the picture. */
export const toTouchCoordinates = (
  [x, y]: ScreenPoint,
  screen: { readonly width: number; readonly height: number },
  turn: Rotation,
  [mostX, mostY]: ScreenPoint,
): ScreenPoint => {
  const [across, down] = [x / Math.max(1, screen.width - 1), y / Math.max(1, screen.height - 1)]
  const upright = [
    [across, down],
    [1 - down, across],
    [1 - across, 1 - down],
    [down, 1 - across],
  ] as const
  const [right, below] = upright[turn]
  const within = (part: number, most: number) => Math.round(Math.min(1, Math.max(0, part)) * most)
  return [within(right, mostX), within(below, mostY)]
}

/** The fingers come down; they are in the numbers of the touch screen, as in what follows. */
export const downEvents = (fingers: Fingers, { hasTouchKey, mostPressure }: TouchDevice): Event[] => [
  ...fingers.flatMap(([x, y], slot): Event[] => [
    [EV_ABS, ABS_MT_SLOT, slot],
    [EV_ABS, ABS_MT_TRACKING_ID, slot + 1],
    [EV_ABS, ABS_MT_POSITION_X, x],
    [EV_ABS, ABS_MT_POSITION_Y, y],
    ...(mostPressure === undefined
      ? []
      : [[EV_ABS, ABS_MT_PRESSURE, Math.max(1, Math.round(mostPressure / 2))] as const]),
  ]),
  ...(hasTouchKey ? [[EV_KEY, BTN_TOUCH, 1] as const] : []),
  [EV_SYN, 0, 0],
]

/** The fingers are elsewhere. */
export const moveEvents = (fingers: Fingers): Event[] => [
  ...fingers.flatMap(([x, y], slot): Event[] => [
    [EV_ABS, ABS_MT_SLOT, slot],
    [EV_ABS, ABS_MT_POSITION_X, x],
    [EV_ABS, ABS_MT_POSITION_Y, y],
  ]),
  [EV_SYN, 0, 0],
]

/** So many fingers go up. */
export const upEvents = (count: number, { hasTouchKey }: TouchDevice): Event[] => [
  ...Array.from({ length: count }, (_, slot): Event[] => [
    [EV_ABS, ABS_MT_SLOT, slot],
    [EV_ABS, ABS_MT_TRACKING_ID, -1],
  ]).flat(),
  ...(hasTouchKey ? [[EV_KEY, BTN_TOUCH, 0] as const] : []),
  [EV_SYN, 0, 0],
]

/** `struct input_event` of each, whose time the kernel sets: 24 bytes for programs of 64 bits, 16 for others. */
export const bytesOfEvents = (events: readonly Event[], bits: 32 | 64): Buffer => {
  const timeBytes = bits === 64 ? 16 : 8
  const bytes = Buffer.alloc(events.length * (timeBytes + 8))
  for (const [at, [type, code, value]] of events.entries()) {
    const from = at * (timeBytes + 8) + timeBytes
    bytes.writeUInt16LE(type, from)
    bytes.writeUInt16LE(code, from + 2)
    bytes.writeInt32LE(value, from + 4)
  }
  return bytes
}
