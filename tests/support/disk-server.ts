/** A web server with one file, for downloads that are interrupted. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What it does; a test may change all of it at any time. */
export interface DiskServerState {
  bytes: Uint8Array
  etag: string | undefined
  /** What it says beside an `ETag`. */
  headers: Readonly<Record<string, string>>
  /** Bytes of an answer after which it breaks off. */
  cutAfter: number
  /** What it waits for before it ends an answer. */
  hold: Promise<void> | undefined
  /** Whether it says how long an answer is. */
  hasLength: boolean
  /** Whether it minds `If-Range`. */
  mindsIfRange: boolean
  /** Whether it has said of a content that it was not changed after any date. */
  isUnmodified: boolean
  /** Where each answer began, or `same?` where it said that nothing has changed. */
  readonly requests: string[]
}

/** Starts it; the file is `/disk.raw`. */
export const serveDisk = async (bytes: Uint8Array) => {
  const state: DiskServerState = {
    bytes,
    etag: '"one"',
    headers: {},
    cutAfter: Number.POSITIVE_INFINITY,
    hold: undefined,
    hasLength: true,
    mindsIfRange: true,
    isUnmodified: false,
    requests: [],
  }
  const server = createServer(async ({ url, headers }, answer) => {
    const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch, 'if-modified-since': ifModified } = headers
    const { bytes, etag, hold, cutAfter, hasLength, mindsIfRange, isUnmodified } = state
    const isRest = range !== undefined && (!mindsIfRange || (etag !== undefined && ifRange === etag))
    const start = isRest ? Number(/(\d+)-/.exec(range)?.[1]) : 0
    const isSame = (etag !== undefined && ifNoneMatch === etag) || (isUnmodified && ifModified !== undefined)
    state.requests.push(isSame ? 'same?' : String(start))
    if (!url?.startsWith('/disk.raw')) return answer.writeHead(404).end()
    if (isSame) return answer.writeHead(304).end()
    if (start >= bytes.length) return answer.writeHead(416, { 'Content-Range': `bytes */${bytes.length}` }).end()
    const rest = bytes.subarray(start)
    answer.writeHead(isRest ? 206 : 200, {
      ...state.headers,
      ...(etag !== undefined && { ETag: etag }),
      ...(hasLength && { 'Content-Length': rest.length }),
      ...(isRest && { 'Content-Range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    })
    answer.write(rest.subarray(0, cutAfter))
    await hold
    if (cutAfter < rest.length) return answer.destroy()
    return answer.end()
  })
  await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
  return {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/disk.raw`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
