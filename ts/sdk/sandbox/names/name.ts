/** Names of sandboxes. */
import { invalidArgument } from '../../errors.ts'

const form = /^[a-z0-9-]{1,63}$/

/** The name, checked; throws `invalid_argument`. A name that passes is safe in a path and in an address. */
export const checkName = (name: unknown, what = 'name'): string => {
  if (typeof name === 'string' && form.test(name)) return name
  throw invalidArgument(
    what,
    `"${what}" is ${JSON.stringify(name)}; give 1 to 63 of the characters a-z, 0-9 and "-".`,
    { value: name ?? null },
  )
}

const first = [
  'amber',
  'blue',
  'calm',
  'clear',
  'cool',
  'early',
  'fair',
  'green',
  'grey',
  'keen',
  'light',
  'mild',
  'plain',
  'quiet',
  'swift',
  'warm',
]
const second = [
  'acorn',
  'alder',
  'aspen',
  'beech',
  'birch',
  'cedar',
  'cliff',
  'creek',
  'delta',
  'field',
  'grove',
  'heron',
  'maple',
  'otter',
  'raven',
  'wren',
]

/** Two words and a number. */
export const newName = (): string => {
  const [a = 0, b = 0, number = 0] = crypto.getRandomValues(new Uint32Array(3))
  return `${first[a % first.length]}-${second[b % second.length]}-${number % 10_000}`
}
