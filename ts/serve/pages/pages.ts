/** What a server answers to people in browsers. */
import { type DocsPageParts, docsPage } from './docs-page.ts'

/** The answer with the description of the operations that stand in an OpenAPI document. */
export const docsAnswer = (document: Record<string, unknown>, about: DocsPageParts): Response =>
  new Response(docsPage(document, about), { headers: { 'content-type': 'text/html; charset=utf-8' } })
