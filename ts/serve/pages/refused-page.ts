/** What a browser is shown that comes to a page of ours without being let in. */
import { secured } from '../headers.ts'
import { pathOf } from '../routes.ts'

/** A page that opens with a link, in words. */
export interface LinkedPage {
  /** Such as `console`. */
  readonly name: string
  /** Paths at which a browser is shown this, the page's own first. */
  readonly paths: readonly [string, ...string[]]
  /** What asks for what: `The service asks for a token.` */
  readonly guard: string
  /** Where links come from, in HTML, after a colon. */
  readonly source: string
}

const html = ({ name, paths: [path], guard, source }: LinkedPage): string => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>Backlot: a link is needed</title>
  <style>
    body { font: 16px/1.6 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem }
    h1 { font-size: 1.4rem }
    code { font: .95em ui-monospace, monospace }
  </style>
</head>
<body>
  <h1>This ${name} opens with a link</h1>
  <p>${guard} A browser is let in by a link that works once: ${source}</p>
  <p>If this browser was let in before, <a href="${path}">open the ${name} again</a>: a browser does not show its pass when
    it comes from another page.</p>
</body>
</html>
`

/** The page with status 401, which may load nothing; undefined for other requests than a browser's for a page. */
export const refusedPage = (request: Request, page: LinkedPage): Response | undefined => {
  if (request.method !== 'GET' || !page.paths.includes(pathOf(request))) return undefined
  if (!request.headers.get('accept')?.includes('text/html')) return undefined
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    // Not even a style: what serves it is behind the guard.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  }
  return secured(new Response(html(page), { status: 401, headers }))
}
