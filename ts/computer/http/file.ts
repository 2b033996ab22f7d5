/** A file as an answer, or the one range of it that a request asks for (RFC 9110, 13.1.5 and 14). */

export interface AnsweredFile {
  /** Bytes that are given, of a file that may have more. */
  readonly size: number
  /** Media type; bytes of no known kind when absent. */
  readonly type?: string
  /** Entity tag without its quotes; a range that was asked for of another is answered with the whole. */
  readonly tag?: string
  /** More bytes may follow those of now: a range is given without the length of the whole. */
  readonly grows?: boolean
}

/** Answers with the file at the path, which is streamed. */
export const answerFile = (path: string, { headers }: Request, answered: AnsweredFile): Response => {
  const { size, type = 'application/octet-stream', tag, grows = false } = answered
  const file = Bun.file(path)
  const common = {
    'Content-Type': type,
    'Accept-Ranges': 'bytes',
    ...(tag === undefined ? {} : { ETag: `"${tag}"` }),
  }
  const asked = headers.get('if-range')
  const isSame = asked === null || tag === undefined || asked === `"${tag}"`
  const range = isSame ? (headers.get('range')?.trim() ?? '') : ''
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  if (first === '' && last === '') {
    // Given to its end, a file that grows would be longer than its announced length.
    const whole = grows ? file.slice(0, size) : file
    return new Response(whole.stream(), { headers: { ...common, 'Content-Length': String(size) } })
  }
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (start >= size || start > end) {
    return new Response(null, { status: 416, headers: { ...common, 'Content-Range': `bytes */${size}` } })
  }
  return new Response(file.slice(start, end + 1).stream(), {
    status: 206,
    headers: {
      ...common,
      'Content-Range': `bytes ${start}-${end}/${grows ? '*' : size}`,
      'Content-Length': String(end + 1 - start),
    },
  })
}
