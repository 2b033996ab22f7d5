/** Pictures of the screen: how they are asked for, and where they are written. */
import type { Bytes, CallOptions } from './basics.ts'
import { invalidArgument } from './errors.ts'
import { node } from './node.ts'

/** PNG, or JPEG of a `quality` from 1 to 95 (95); `path` also writes a file of the caller's. */
export type ScreenshotOptions = CallOptions & {
  /** A file of the caller's to write, which is replaced. @default none */
  path?: string
} & (
    | {
        /** @default 'png' */
        format?: 'png'
      }
    | {
        format: 'jpeg'
        /** From 1 to 95. @default 95 */
        quality?: number
      }
  )

/** What is sent for a picture: PNG has no quality, whatever is given. Throws `invalid_argument`. */
export const pictureParams = (options: ScreenshotOptions = {}): { format: 'png' | 'jpeg'; quality?: number } => {
  if (options.format !== 'jpeg') return { format: 'png' }
  const { quality = 95 } = options
  if (Number.isInteger(quality) && quality >= 1 && quality <= 95) return { format: 'jpeg', quality }
  throw invalidArgument('quality', `"quality" is ${quality}; it takes a whole number from 1 to 95.`)
}

/** Writes the picture where the caller wants it too. */
export const savePicture = async (picture: Bytes, path: string | undefined): Promise<void> => {
  if (path === undefined) return
  const { writeWhole } = await node('Writing a picture to a file', () => import('./local/write.ts'))
  await writeWhole(path, picture)
}
