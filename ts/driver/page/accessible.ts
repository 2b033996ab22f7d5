/** A page as the accessibility bus shows it: for browsers and web views that listen for no debugger. */
import { boundsOf } from '@backlot/contract/desktop'
import { Failure } from '@backlot/contract/failure'
import { page as limits } from '@backlot/contract/limits'
import type { AxSnapshot, Point, Rect, Window } from '@backlot/native'
import { act, answer, deliverClick } from '../action/act.ts'
import { bringIntoView } from '../action/into-view.ts'
import { clickArea, contains, refuseInvisible } from '../action/target.ts'
import type { Call } from '../context.ts'
import { refreshedMap } from '../observation/trees.ts'
import type { Outcome } from '../tool/tool.ts'
import { asFacts, asList, asText, type Facts } from './browser-socket.ts'
import { elementLine } from './read.ts'
import { fits, readSelector, type SimpleSelector } from './simple-selector.ts'

/** One object of the page. */
interface PageObject {
  readonly role: string
  readonly label: string
  readonly value: string | null
  readonly element_index: number | null
  readonly parent: number | null
  readonly enabled: boolean
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly offscreen: boolean
  /** In window pixels. */
  readonly rect: Rect | null
}

/** The text of the page, in view or not. */
export const readAccessibleText = async (call: Call, window: Window): Promise<Outcome> => {
  const { objects, partial } = await readPage(call, window)
  const whole = textOf(objects)
  const text = whole.slice(0, limits.longestText)
  return {
    text: [`✅ Text of the page in "${window.title}".`, ...leftOut(partial), '', text].join('\n'),
    structured: {
      pid: window.pid,
      window_id: window.window_id,
      title: objects[0]?.label ?? '',
      text,
      is_truncated: partial !== null || whole.length > text.length,
      partial,
      route: 'accessibility',
    },
  }
}

/** The objects that fit a simple selector, and which attributes the toolkit does not give. */
export const queryAccessible = async (
  call: Call,
  window: Window,
  css_selector: string,
  wanted: readonly string[] | undefined,
): Promise<Outcome> => {
  const selector = simple('css_selector', css_selector)
  const { objects, partial } = await readPage(call, window)
  const given = new Set(objects.flatMap(({ attributes }) => Object.keys(attributes)))
  const found = objects.filter(({ tag, attributes }) => fits(selector, tag, attributes))
  const shown = found.slice(0, limits.elements)
  const elements = shown.map((each) => describe(each, wanted))
  const unavailable = [...new Set([...(wanted ?? []), ...selector.names])].filter(
    (name) => !given.has(name.toLowerCase()),
  )
  const rest = found.length > shown.length ? ` The first ${shown.length} follow.` : ''
  const lacks =
    unavailable.length === 0
      ? ''
      : ` No object of the page has ${unavailable.join(', ')}; a debugging port may give more.`
  return {
    text: [
      `✅ ${found.length} element(s) match "${css_selector}".${rest}${lacks}`,
      ...leftOut(partial),
      ...elements.map(elementLine),
    ].join('\n'),
    structured: {
      pid: window.pid,
      window_id: window.window_id,
      css_selector,
      count: found.length,
      is_truncated: partial !== null || found.length > shown.length,
      partial,
      attributes_unavailable: unavailable,
      elements,
      route: 'accessibility',
    },
  }
}

/** An object as an answer tells it, with the attributes that are wanted, or all. */
const describe = (object: PageObject, wanted: readonly string[] | undefined) => ({
  tag: object.tag,
  role: object.role,
  text: cut(object.label),
  attributes: wanted
    ? Object.fromEntries(wanted.map((name) => [name, object.attributes[name.toLowerCase()] ?? null]))
    : object.attributes,
  ...(object.value !== null && { value: cut(object.value) }),
  ...(object.enabled ? {} : { disabled: true }),
  element_index: object.element_index,
  rect: object.rect,
  is_visible: true,
  is_in_viewport: !object.offscreen,
})

/** Clicks the middle of the first object that fits a simple selector, scrolled to first, with the agent's pointer. */
export const clickAccessible = async (call: Call, window: Window, selector: string): Promise<Outcome> => {
  const wanted = simple('selector', selector)
  refuseInvisible(window)
  let { objects, map } = await readPage(call, window)
  const matching = () => objects.filter(({ tag, attributes }) => fits(wanted, tag, attributes))
  let found = matching()
  const index = found[0]?.element_index ?? null
  if (index !== null && placeIn(window, objects, found[0]) === null) {
    const element = map.element(index)
    if (element !== null) await bringIntoView(call, { window, target: { index, snapshot: map, element } })
    ;({ objects, map } = await readPage(call, window))
    found = matching()
  }
  const [first] = found
  if (first === undefined) {
    throw new Failure(
      'page_element_not_found',
      `Nothing in the page matches "${selector}". Call page with query_dom to see what there is.`,
      { selector },
    )
  }
  const place = clickablePlace(window, objects, first, selector)
  const { pid, window_id } = window
  const target =
    first.element_index === null ? undefined : call.driver.windowCache.element(pid, window_id, first.element_index)
  const context = { window, target, place: clickArea(place), cursorPoint: place }
  const { evidence } = await act(call, context, () => deliverClick(call, window, place))
  const others = found.length > 1 ? ` (the first of ${found.length} that match)` : ''
  return answer(
    `✅ Clicked <${first.tag}> "${first.label}"${others} in "${window.title}".`,
    { window, evidence },
    {
      selector,
      matches: found.length,
      viewport_x: null,
      viewport_y: null,
      screen_x: window.x === null ? null : window.x + place.x,
      screen_y: window.y === null ? null : window.y + place.y,
      pointer_moved: true,
      route: 'agent_pointer',
    },
  )
}

/** Where a click meets an object; throws `page_element_not_clickable` where none does. */
const clickablePlace = (
  window: Window,
  objects: readonly PageObject[],
  object: PageObject,
  selector: string,
): Point => {
  const refuse = (reason: string) =>
    new Failure(
      'page_element_not_clickable',
      `The element that matches "${selector}" ${reason}, so a click would not meet it. Call get_window_state to look, and make it clickable first.`,
      { selector, reason },
    )
  if (!object.enabled) throw refuse('is disabled')
  if (object.rect === null || object.rect.width === 0 || object.rect.height === 0) throw refuse('has no size')
  // Beyond the document lies the browser itself, with its tabs and its toolbar.
  const place = placeIn(window, objects, object)
  if (place === null) throw refuse('is scrolled out of view')
  return place
}

/** The middle of what the window shows of an object; null where it shows nothing of it. */
const placeIn = (window: Window, objects: readonly PageObject[], object: PageObject | undefined): Point | null => {
  const rect = object?.rect && inView(object.rect, documentOf(objects, object).rect)
  if (!rect) return null
  const place = { x: Math.floor(rect.x + rect.width / 2), y: Math.floor(rect.y + rect.height / 2) }
  return contains(window, place) ? place : null
}

/** The outermost document that an object lies in. */
const documentOf = (objects: readonly PageObject[], object: PageObject): PageObject => {
  const above = object.parent === null ? undefined : objects[object.parent]
  return above === undefined ? object : documentOf(objects, above)
}

/** The part of a place that a document shows, or null when it shows none of it. */
const inView = (place: Rect, shown: Rect | null): Rect | null => {
  if (shown === null) return place
  const [x, y] = [Math.max(place.x, shown.x), Math.max(place.y, shown.y)]
  const width = Math.min(place.x + place.width, shown.x + shown.width) - x
  const height = Math.min(place.y + place.height, shown.y + shown.height) - y
  return width > 0 && height > 0 ? { x, y, width, height } : null
}

const simple = (argument: string, text: string): SimpleSelector => {
  const selector = readSelector(text)
  if (selector !== undefined) return selector
  throw new Failure(
    'invalid_argument',
    `Argument "${argument}" is "${text}", and without a debugging port only a tag, #id, .class and [attribute=value] can be looked for. Use such a selector, or launch the browser with electron_debugging_port.`,
    { argument },
  )
}

const leftOut = (partial: string | null): string[] => (partial === null ? [] : [`partial: ${partial}`])

const readPage = async (
  call: Call,
  window: Window,
): Promise<{ readonly objects: readonly PageObject[]; readonly map: AxSnapshot; readonly partial: string | null }> => {
  const map = await refreshedMap(call, window, true)
  const objects = asList(JSON.parse(await map.page(limits.commandMs))).map((facts) => objectOf(window, facts))
  if (objects.length > 0) return { objects, map, partial: map.partial }
  throw new Failure(
    'page_not_found',
    `Window ${window.window_id} "${window.title}" shows no web page on the accessibility bus. Launch the browser with launch_app, which switches its accessibility on, or with electron_debugging_port.`,
    { pid: window.pid, window_id: window.window_id },
  )
}

const objectOf = (window: Window, facts: Facts): PageObject => {
  const { tag = '', ...attributes } = Object.fromEntries(
    Object.entries(asFacts(facts.attributes)).map(([name, value]) => [plainName(name), cut(asText(value))]),
  )
  const { x, y, w, h } = asFacts(facts.frame)
  const { x: left, y: top } = boundsOf(window)
  return {
    role: asText(facts.role),
    label: asText(facts.label),
    value: typeof facts.value === 'string' ? facts.value : null,
    element_index: typeof facts.element_index === 'number' ? facts.element_index : null,
    parent: typeof facts.parent === 'number' ? facts.parent : null,
    enabled: facts.enabled === true || facts.element_index === null,
    tag: tag.toLowerCase(),
    attributes,
    offscreen: facts.offscreen === true,
    rect: typeof x === 'number' ? { x: x - left, y: Number(y) - top, width: Number(w), height: Number(h) } : null,
  }
}

/** Engines spell the names of HTML attributes each in its way. */
const plainName = (name: string): string =>
  ({ 'html-id': 'id', 'text-input-type': 'type', 'placeholder-text': 'placeholder' })[name] ?? name.toLowerCase()

const cut = (text: string): string =>
  text.length > limits.longestPart ? `${text.slice(0, limits.longestPart - 1)}…` : text

/** What the objects say, each once: a parent that only repeats what is in it stays silent. */
const textOf = (objects: readonly PageObject[]): string => {
  const inside = objects.map(() => '')
  for (let at = objects.length - 1; at > 0; at--) {
    const { label, parent } = objects[at] ?? { label: '', parent: null }
    if (parent !== null) inside[parent] = `${squeezed(inside[at] || label)}${inside[parent]}`
  }
  const lines = objects.flatMap(({ label, value, role }, at) => {
    if (role.startsWith('document')) return []
    const said = label.trim() === '' || inside[at]?.includes(squeezed(label)) ? '' : label.trim()
    return [said, value !== null && value !== label && role === 'entry' ? value.trim() : '']
  })
  return lines.filter((line) => line !== '').join('\n')
}

const squeezed = (text: string): string => text.replace(/\s+/g, '')
