/** Reading a page through its browser: its text, and its elements. */
import { Failure } from '@backlot/contract/failure'
import { page as limits } from '@backlot/contract/limits'
import type { Outcome } from '../tool/tool.ts'
import { asFacts, asList, asText, BrowserRefused, type Facts } from './browser-socket.ts'
import query from './scripts/query.page.js' with { type: 'text' }
import visibleText from './scripts/text.page.js' with { type: 'text' }
import type { ShownPage } from './shown-page.ts'
import type { WebPage } from './web-page.ts'

/** Calls one of our functions in the page, a JSON value in and a record out. */
export const ask = async (page: WebPage, source: string, given: object, timeoutMs: number): Promise<Facts> => {
  const text = await page.callFunction(source, JSON.stringify(given), timeoutMs)
  try {
    return asFacts(JSON.parse(text))
  } catch {
    throw new BrowserRefused('', 'the page gave no answer that can be read')
  }
}

/** The failure for a selector that is none. */
export const invalidSelector = (argument: string, selector: string, reason: unknown): Failure =>
  new Failure(
    'invalid_argument',
    `Argument "${argument}" is "${selector}", which is no CSS selector: ${asText(reason)}. Mend it.`,
    { argument },
  )

/** The visible text of the page. */
export const readText = async ({ page, window }: ShownPage): Promise<Outcome> => {
  const read = await ask(page, visibleText, { longest: limits.longestText }, limits.commandMs)
  const text = asText(read.text)
  const [characters, unread] = [Number(read.characters), Number(read.frames_unread)]
  const notes = [
    characters > text.length ? `The first ${text.length} of ${characters} characters.` : '',
    unread > 0 ? `${unread} frame(s) of other sites are not in it.` : '',
  ].filter((note) => note !== '')
  return {
    text: [`✅ Text of "${asText(read.title)}" ${asText(read.url)}`, ...notes, '', text].join('\n'),
    structured: {
      pid: window.pid,
      window_id: window.window_id,
      title: asText(read.title),
      url: asText(read.url),
      text,
      is_truncated: characters > text.length || unread > 0,
      frames_unread: unread,
      route: page.route,
    },
  }
}

/** The elements that match the selector. */
export const queryDom = async (
  { page, window }: ShownPage,
  selector: string,
  attributes: readonly string[] | undefined,
): Promise<Outcome> => {
  const given = { selector, attributes: attributes ?? null, limit: limits.elements, longest: limits.longestPart }
  const answer = await ask(page, query, given, limits.commandMs)
  if (answer.invalid !== undefined) throw invalidSelector('css_selector', selector, answer.invalid)
  const elements = asList(answer.elements)
  const count = Number(answer.count)
  const rest =
    count > elements.length ? ` The first ${elements.length} follow; narrow the selector for the others.` : ''
  return {
    text: [`✅ ${count} element(s) match "${selector}".${rest}`, ...elements.map(elementLine)].join('\n'),
    structured: {
      pid: window.pid,
      window_id: window.window_id,
      title: asText(answer.title),
      url: asText(answer.url),
      css_selector: selector,
      count,
      is_truncated: count > elements.length,
      elements,
      route: page.route,
    },
  }
}

/** One line an element, as texts show it. */
export const elementLine = ({ tag, text, attributes, value, is_visible }: Facts): string => {
  const named = Object.entries(asFacts(attributes)).flatMap(([name, held]) =>
    held === null ? [] : [` ${name}=${JSON.stringify(held)}`],
  )
  const said = asText(text) === '' ? '' : ` ${JSON.stringify(text)}`
  const state = `${value === undefined ? '' : ` value=${JSON.stringify(value)}`}${is_visible === false ? ' invisible' : ''}`
  return `- ${asText(tag)}${named.join('')}${said}${state}`
}
