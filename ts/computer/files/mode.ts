import { Failure } from '@backlot/contract/failure'

/** Permission bits in octal. Throws `invalid_argument`. */
export const modeIn = (text: string | null): number | undefined => {
  if (text === null) return undefined
  if (/^[0-7]{3,4}$/.test(text)) return Number.parseInt(text, 8)
  throw new Failure('invalid_argument', `"mode" is "${text}"; it takes permission bits in octal, such as 644.`, {
    argument: 'mode',
  })
}
