/** The web page's files as answers: the page itself, its style and its scripts. */
import { extname } from 'node:path'

/** Path of a file of the page: `/console/style.css`. */
export const assetsPath = '/console'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

interface Asset {
  readonly text: string
  readonly tag: string
}

let loaded: Promise<ReadonlyMap<string, Asset>> | undefined

const load = async (): Promise<ReadonlyMap<string, Asset>> => {
  const { bundle } = await import('./bundle.ts')
  return new Map(
    Object.entries(await bundle()).map(([name, text]) => [name, { text, tag: `"${Bun.hash(text).toString(36)}"` }]),
  )
}

/** Answers with the file of that name; undefined where there is none. A browser that has it is told so. */
export const asset = async (name: string, request: Request, status = 200): Promise<Response | undefined> => {
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
