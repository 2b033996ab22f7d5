/** What `uiautomator dump` writes: one element `node` in another, with attributes alone. */
import type { CommandResult } from '@backlot/contract/computer'
import { Failure } from '@backlot/contract/failure'

/** An element as on desktops, and beside that what Android tells of it. */
export type UiElement = CommandResult<'find_element'>['element'] & {
  readonly resource_id: string
  readonly class_name: string
  readonly package: string
  readonly text: string
  readonly content_desc: string
  readonly checkable: boolean
  readonly checked: boolean
  readonly clickable: boolean
  readonly focusable: boolean
  readonly focused: boolean
  readonly scrollable: boolean
  readonly long_clickable: boolean
  readonly password: boolean
  readonly selected: boolean
}

/** The elements at the top. Throws `device_failed` where the text is not whole. */
export const elementsIn = (xml: string): UiElement[] => {
  const roots: UiElement[] = []
  const open: UiElement[] = []
  let hasEnded = false
  for (const [tag, isEnd, name, attributes = '', isEmpty] of xml.matchAll(
    /<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/g,
  )) {
    if (name === 'hierarchy') hasEnded ||= isEnd === '/' || isEmpty === '/'
    if (name !== 'node') continue
    if (isEnd === '/') {
      if (open.pop() === undefined) throw broken(tag)
      continue
    }
    const element = elementOf(attributesIn(attributes))
    const parent = open.at(-1)
    if (parent === undefined) roots.push(element)
    else parent.children.push(element)
    if (isEmpty !== '/') open.push(element)
  }
  if (!hasEnded || open.length > 0) throw broken(xml.slice(-80))
  return roots
}

const broken = (near: string): Failure =>
  new Failure('device_failed', `uiautomator wrote a tree that is not whole, near "${near.trim()}".`)

const attributesIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(([, name, double, single]) => [
      name,
      plain(double ?? single ?? ''),
    ]),
  )

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of an attribute, whose characters XML may write by names and numbers. */
const plain = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole
      const number = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
      return number <= 0x10ffff ? String.fromCodePoint(number) : whole
    },
  )

const elementOf = (given: Readonly<Record<string, string>>): UiElement => {
  const is = (name: string) => given[name] === 'true'
  const [left = 0, top = 0, right = 0, bottom = 0] = (given.bounds?.match(/-?\d+/g) ?? []).map(Number)
  const bounds = { x: left, y: top, width: right - left, height: bottom - top }
  const [text = '', content_desc = '', class_name = ''] = [given.text, given['content-desc'], given.class]
  const actions = Object.entries({
    click: is('clickable'),
    long_click: is('long-clickable'),
    scroll: is('scrollable'),
    focus: is('focusable'),
    check: is('checkable'),
  })
  const holdsText = class_name.endsWith('EditText')
  return {
    role: class_name.split('.').at(-1) ?? '',
    // What a field holds is its value; what describes it is its name.
    title: (holdsText ? content_desc : text || content_desc) || '',
    value: holdsText ? text : is('checkable') ? String(is('checked')) : null,
    enabled: is('enabled'),
    position: { x: bounds.x, y: bounds.y },
    size: { width: bounds.width, height: bounds.height },
    bounds,
    actions: actions.flatMap(([name, can]) => (can ? [name] : [])),
    children: [],
    resource_id: given['resource-id'] ?? '',
    class_name,
    package: given.package ?? '',
    text,
    content_desc,
    checkable: is('checkable'),
    checked: is('checked'),
    clickable: is('clickable'),
    focusable: is('focusable'),
    focused: is('focused'),
    scrollable: is('scrollable'),
    long_clickable: is('long-clickable'),
    password: is('password'),
    selected: is('selected'),
  }
}
