/** The files of web pages as answers: the pages themselves, their styles and their scripts. */
import { extname } from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

interface File {
  readonly text: string
  readonly tag: string
}

/**
 * Answers with the file of that name, with status 200 unless another is given; undefined where there is none. A browser
 * that has it is told so.
 */
export type Assets = (name: string, request: Request, status?: number) => Promise<Response | undefined>

/** The files that `bundle` gives as texts by their names; it is asked once, when the first is wanted. */
export const assetsOf = (bundle: () => Promise<Readonly<Record<string, string>>>): Assets => {
  let loaded: Promise<ReadonlyMap<string, File>> | undefined
  const load = async () =>
    new Map(
      Object.entries(await bundle()).map(([name, text]) => [name, { text, tag: `"${Bun.hash(text).toString(36)}"` }]),
    )
  return async (name, request, status = 200) => {
    loaded ??= load()
    const file = (await loaded).get(name)
    if (file === undefined) return undefined
    const headers = {
      'content-type': types[extname(name)] ?? 'application/octet-stream',
      'cache-control': 'no-cache',
      etag: file.tag,
    }
    const isKnown = status === 200 && request.headers.get('if-none-match') === file.tag
    return isKnown ? new Response(null, { status: 304, headers }) : new Response(file.text, { status, headers })
  }
}
