/** The screen that a command asks for. */
import { Failure } from '@backlot/contract/failure'
import { privateDesktop } from '@backlot/contract/limits'

/** The screen of a private desktop that `--size` names, else the usual one. */
export const screenSize = (text: string | undefined): { width: number; height: number } => {
  if (text === undefined) return privateDesktop.size
  const [, across, down] = /^(\d{2,5})x(\d{2,5})$/.exec(text) ?? []
  const size = { width: Number(across), height: Number(down) }
  const { smallestSide, longestSide } = privateDesktop
  const fits = (side: number) => side >= smallestSide && side <= longestSide
  if (fits(size.width) && fits(size.height)) return size
  const { width, height } = privateDesktop.size
  throw new Failure(
    'invalid_argument',
    `--size is "${text}"; it takes WIDTHxHEIGHT in pixels, each from ${smallestSide} to ${longestSide}, such as ${width}x${height}.`,
    { argument: 'size' },
  )
}
