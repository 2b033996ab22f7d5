/** The messages that an emulator is sent (`emulator_controller.proto` of the Android SDK), by the numbers of their fields. */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** A finger: where it is on the glass, in pixels, and how hard it presses; 0 lifts it. */
export interface EmulatorTouch {
  readonly x: number
  readonly y: number
  readonly identifier: number
  readonly pressure: number
}

/** `TouchEvent`: all fingers that change. */
export const touchEvent = (touches: readonly EmulatorTouch[]): Uint8Array => {
  const event = new BinaryWriter()
  for (const { x, y, identifier, pressure } of touches) {
    event.tag(1, WireType.LengthDelimited).fork()
    for (const [at, value] of [x, y, identifier, pressure].entries()) event.tag(at + 1, WireType.Varint).int32(value)
    event.join()
  }
  return event.finish()
}

/** The numbers of the fields of a `KeyboardEvent` that are sent, and what they hold. */
const keyboard = { codeType: 1, eventType: 2, keyCode: 3, evdev: 1, keydown: 0, keyup: 1 } as const

/** `KeyboardEvent`: a key, by its number on Linux, goes down or up. */
export const keyboardEvent = (what: 'keydown' | 'keyup', code: number): Uint8Array =>
  new BinaryWriter()
    .tag(keyboard.codeType, WireType.Varint)
    .int32(keyboard.evdev)
    .tag(keyboard.eventType, WireType.Varint)
    .int32(keyboard[what])
    .tag(keyboard.keyCode, WireType.Varint)
    .int32(code)
    .finish()

/** `ClipData`. */
export const clipData = (text: string): Uint8Array =>
  new BinaryWriter().tag(1, WireType.LengthDelimited).string(text).finish()

/** The text of a `ClipData`. */
export const textOfClipData = (bytes: Uint8Array): string => {
  const reader = new BinaryReader(bytes)
  let text = ''
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 1) text = reader.string()
    else reader.skip(type, field)
  }
  return text
}

/** `Empty`. */
export const empty = new Uint8Array()
