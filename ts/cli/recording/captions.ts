/** What is written into a film of a recording: the keys, texts and clicks of its turns, as subtitles (ASS v4+). */
import type { ShownAction } from './recorded.ts'

/** A text and when it is shown, in milliseconds of the film. */
export interface Caption {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Milliseconds that a caption is shown where nothing follows earlier, and at least. */
const [usualMs, leastMs] = [2_000, 400]

/** Characters of a typed text that are shown. */
const longest = 60

type Words = (args: Readonly<Record<string, unknown>>, action: ShownAction) => string

const asKeys = (keys: readonly unknown[]): string => keys.map((key) => capital(String(key))).join(' + ')
const capital = (key: string): string =>
  key.length === 1 ? key.toUpperCase() : `${key[0]?.toUpperCase()}${key.slice(1)}`
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const where = ({ locator }: ShownAction): string => (locator?.name ? ` ${locator.name}` : '')
const short = (text: string): string => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

const words: Readonly<Record<string, Words>> = {
  press_key: ({ modifiers, key }) => asKeys([...list(modifiers), key]),
  hotkey: ({ keys }) => asKeys(list(keys)),
  type_text: ({ text }) => `“${short(String(text))}”`,
  set_value: ({ value }, action) => `${where(action).trim()} = “${short(String(value))}”`.trim(),
  click: (_, action) => `Click${where(action)}`,
  double_click: (_, action) => `Double click${where(action)}`,
  right_click: (_, action) => `Right click${where(action)}`,
  drag: ({ from_x, from_y, to_x, to_y }) => `Drag ${from_x}, ${from_y} to ${to_x}, ${to_y}`,
  move_cursor: ({ x, y }) => `Move cursor to ${x}, ${y}`,
  scroll: ({ direction }) => `Scroll ${direction}`,
  invoke_menu: ({ path }) => list(path).map(String).join(' › '),
  launch_app: ({ name, bundle_id }) => `Launch ${bundle_id ?? name}`,
}

/** What a turn says. */
export const captionOf = (action: ShownAction): string =>
  (words[action.tool]?.(action.arguments, action) ?? capital(action.tool.replaceAll('_', ' '))).trim()

/** The captions of turns that begin at these milliseconds, none longer than until the next. */
export const captionsOf = (
  turns: readonly { readonly action: ShownAction; readonly at: number }[],
): readonly Caption[] =>
  turns.map(({ action, at }, index) => {
    const next = turns[index + 1]?.at ?? Number.POSITIVE_INFINITY
    return { from: at, to: Math.max(at + leastMs, Math.min(at + usualMs, next)), text: captionOf(action) }
  })

/** The captions as a file of subtitles for a picture of that size. */
export const asSubtitles = (
  captions: readonly Caption[],
  { width, height }: { width: number; height: number },
): string => {
  const size = Math.max(16, Math.round(height / 22))
  return `[Script Info]
ScriptType: v4.00+
PlayResX: ${width}
PlayResY: ${height}
WrapStyle: 0

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, OutlineColour, BackColour, Bold, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV
Style: Keys,DejaVu Sans,${size},&H00FFFFFF,&H60000000,&H60000000,1,3,${Math.round(size / 4)},0,2,20,20,${size}

[Events]
Format: Layer, Start, End, Style, Text
${captions.map(({ from, to, text }) => `Dialogue: 0,${clock(from)},${clock(to)},Keys,${escaped(text)}`).join('\n')}
`
}

/** `0:00:01.50`. */
const clock = (ms: number): string => {
  const hundredths = Math.max(0, Math.round(ms / 10))
  const two = (value: number) => String(value).padStart(2, '0')
  return `${Math.floor(hundredths / 360_000)}:${two(Math.floor(hundredths / 6_000) % 60)}:${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`
}

/** Braces begin commands and a backslash escapes: neither can be written as itself. */
const escaped = (text: string): string =>
  text.replaceAll('\\', '⧵').replaceAll('{', '(').replaceAll('}', ')').replace(/\s+/g, ' ')
