/** The kinds of sources; the first that matches is it. */
import { Failure } from '@backlot/contract/failure'
import { blank } from './blank.ts'
import { file } from './file.ts'
import { iso } from './iso.ts'
import { localImage } from './local-image.ts'
import type { CreateInput, Source } from './source.ts'
import { url } from './url.ts'

const sources: readonly Source[] = [iso, url, file, localImage, blank]

/** The kind of source that a request names; throws `invalid_argument` for two. */
export const sourceOf = (input: CreateInput): Source => {
  if (input.image !== undefined && input.iso !== undefined) {
    throw new Failure(
      'invalid_argument',
      '"image" and "iso" are both given; a disk begins with one of them or empty.',
      { argument: 'iso' },
    )
  }
  return sources.find((source) => source.matches(input)) ?? blank
}
