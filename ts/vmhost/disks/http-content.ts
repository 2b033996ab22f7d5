/** What HTTP says of a content: which one an answer is of, how long it is, and what is asked to learn that. */
import { type Content, validatorOf } from './kept-download.ts'

/** Asks for the rest of what was begun, or whether the content is still the one that is here. */
export const conditionalHeaders = (
  content: Content | undefined,
  begunBytes: number | undefined,
): Record<string, string> => {
  const plain = { 'Accept-Encoding': 'identity' }
  const validator = content && validatorOf(content)
  if (content === undefined || validator === undefined) return plain
  if (begunBytes !== undefined) return { ...plain, Range: `bytes=${begunBytes}-`, 'If-Range': validator }
  return { ...plain, [content.etag === undefined ? 'If-Modified-Since' : 'If-None-Match']: validator }
}

/** Whether this asks for the content only where it is another than the one that is here. */
export const isConditional = (asked: Readonly<Record<string, string>>): boolean =>
  'If-None-Match' in asked || 'If-Modified-Since' in asked

/** Whether the end of an answer without a length shows: one that breaks off lacks its last chunk (RFC 9112, 7.1). */
export const isChunked = ({ headers }: Response): boolean =>
  /(^|,)\s*chunked\s*$/i.test(headers.get('transfer-encoding') ?? '')

/**
 * Bytes of the whole content, where the answer is all of the rest of what was begun: not every server minds `If-Range`,
 * nor gives all that was asked for. Undefined where it is not, or nobody can tell.
 */
export const wholeWithRest = (
  answer: Response,
  { bytes, content }: { bytes: number; content: Content },
): number | undefined => {
  const [, start, end, all] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(answer.headers.get('content-range') ?? '') ?? []
  const total = all === '*' ? content.bytes : Number(all)
  if (total === undefined || total !== (content.bytes ?? total)) return undefined
  if (Number(start) !== bytes || Number(end) !== total - 1) return undefined
  const [name, wanted] = content.etag === undefined ? ['last-modified', content.modified] : ['etag', content.etag]
  return answer.headers.get(name) === wanted ? total : undefined
}

/** Milliseconds by which a content must be older than its answer to be the only one of that date (RFC 9110, 8.8.2.2). */
const strongAfterMs = 1_000

/** The content that an answer without a range is of. */
export const contentOf = ({ headers }: Response): Content => {
  const [etag, modified, length] = [headers.get('etag'), headers.get('last-modified'), headers.get('content-length')]
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(modified ?? '')
  return {
    // A weak one says nothing about bytes.
    ...(etag !== null && !etag.startsWith('W/') && { etag }),
    ...(modified !== null && age >= strongAfterMs && { modified }),
    ...(length !== null && { bytes: Number(length) }),
  }
}
