/**
 * Typing a text on a device: by the keys of its keyboard, and what those have not by the agent, or by an input method that takes
 * any text.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import type { DeviceAgent } from './agent/agent.ts'
import type { AndroidDevice } from './device.ts'

/** The input method that types what it is broadcast (ADBKeyBoard): its package, its action, the field with the text. */
const anyText = { package: 'com.android.adbkeyboard', action: 'ADB_INPUT_B64', field: 'msg' } as const

/** Characters of one command: a line of a shell is not endless. */
const longest = 1_000

/** One act of typing: keys for a text of ASCII, one key, or any text. */
export type Stroke =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'key'; readonly code: number }
  | { readonly kind: 'any'; readonly text: string }

/** Keys for the characters that are no text to `input`. */
const keys: Readonly<Record<string, number>> = { '\n': 66, '\r': 66, '\t': 61 }

/**
 * What types a text. `input text` knows the characters of the keyboard, which are those of ASCII, and reads `%s` as a space:
 * a percent sign ends its command.
 */
export const strokesOf = (text: string): Stroke[] => {
  const strokes: Stroke[] = []
  for (const character of text.replaceAll('\r\n', '\n')) {
    const code = keys[character]
    if (code !== undefined) {
      strokes.push({ kind: 'key', code })
      continue
    }
    const kind = /^[ -~]$/.test(character) ? 'text' : 'any'
    const last = strokes.at(-1)
    const isMore = last?.kind === kind && last.text.length < longest && !(kind === 'text' && last.text.endsWith('%'))
    if (isMore) strokes[strokes.length - 1] = { kind, text: last.text + character }
    else strokes.push({ kind, text: character })
  }
  return strokes
}

/** The commands of the device that carry out a stroke. */
const commandOf = (stroke: Stroke): (string | number)[] => {
  if (stroke.kind === 'key') return ['input', 'keyevent', stroke.code]
  if (stroke.kind === 'text') return ['input', 'text', stroke.text]
  const text = Buffer.from(stroke.text).toString('base64')
  return ['am', 'broadcast', '-a', anyText.action, '-p', anyText.package, '--es', anyText.field, text]
}

/** Types it; nothing is typed where something of it cannot be. Throws `not_available` and `device_failed`. */
export const typeText = async (
  device: AndroidDevice,
  agent: DeviceAgent,
  text: string,
  { delayMs = 0, signal }: { readonly delayMs?: number; readonly signal: AbortSignal },
): Promise<void> => {
  const strokes = delayMs === 0 ? strokesOf(text) : [...text].flatMap(strokesOf)
  const foreign = strokes.find(({ kind }) => kind === 'any') as { readonly text: string } | undefined
  const isForAgent = foreign !== undefined && (await agent.runs())
  if (foreign !== undefined && !isForAgent) await needAnyText(device, agent, foreign.text, signal)
  for (const stroke of strokes) {
    if (isForAgent && stroke.kind === 'any') await agent.ask({ ask: 'type_text', text: stroke.text }, signal)
    else await carryOut(device, stroke, signal)
    if (delayMs > 0) await pause(delayMs, undefined, { signal })
  }
}

const carryOut = async (device: AndroidDevice, stroke: Stroke, signal: AbortSignal): Promise<void> => {
  const said = await device.run(commandOf(stroke), { signal })
  if (stroke.kind !== 'any' || said.includes('Broadcast completed')) return
  throw new Failure('device_failed', `The input method has not taken "${stroke.text.slice(0, 40)}": ${said.trim()}`)
}

const needAnyText = async (
  device: AndroidDevice,
  agent: DeviceAgent,
  text: string,
  signal: AbortSignal,
): Promise<void> => {
  const method = await device.run(['settings', 'get', 'secure', 'default_input_method'], { signal })
  if (method.trim().startsWith(`${anyText.package}/`)) return
  const [character = ''] = text
  const why = await agent.start().catch((error: unknown) => Failure.from(error).message)
  throw new Failure(
    'not_available',
    `The keys of the device have no "${character}", and its input method is "${method.trim()}". ${why} Install ADBKeyBoard and choose it (\`ime set ${anyText.package}/.AdbIME\`), which types any text.`,
    { character, input_method: method.trim() },
  )
}
