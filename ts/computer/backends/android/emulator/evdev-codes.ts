/** The keys of a keyboard by which an emulator is told of one (linux/input-event-codes.h), by their numbers on Android. */

/** Letters and digits, each row from its first key on. */
const rows: readonly (readonly [characters: string, first: number])[] = [
  ['1234567890', 2],
  ['qwertyuiop', 16],
  ['asdfghjkl', 30],
  ['zxcvbnm', 44],
]

const androidCodeOf = (character: string): number =>
  /\d/.test(character) ? 7 + Number(character) : 29 + character.charCodeAt(0) - 97

const others: Readonly<Record<number, number>> = {
  // escape, -, =, backspace, tab, [, ], enter
  111: 1,
  69: 12,
  70: 13,
  67: 14,
  61: 15,
  71: 26,
  72: 27,
  66: 28,
  // ;, ', `, \, comma, full stop, /, space
  74: 39,
  75: 40,
  68: 41,
  73: 43,
  55: 51,
  56: 52,
  76: 53,
  62: 57,
  // ctrl, shift and alt of both sides, meta
  113: 29,
  114: 97,
  59: 42,
  60: 54,
  57: 56,
  58: 100,
  117: 125,
  // up, left, right, down, delete
  19: 103,
  21: 105,
  22: 106,
  20: 108,
  112: 111,
  // volume
  25: 114,
  24: 115,
}

const codes = new Map([
  ...rows.flatMap(([characters, first]) =>
    [...characters].map((character, at) => [androidCodeOf(character), first + at] as const),
  ),
  ...Object.entries(others).map(([android, evdev]) => [Number(android), evdev] as const),
])

/** The number for an emulator; undefined for a key that none of its keyboards has. */
export const evdevCodeOf = (androidCode: number | string): number | undefined => codes.get(Number(androidCode))
