import { expect, test } from 'bun:test'
import type { AxElement, Window } from '@backlot/native'
import { type ActionContext, compareObservations, isConfirming, type Observation, PixelStability } from './evidence.ts'

const window: Window = {
  window_id: 7,
  pid: 1,
  app_name: 'Editor',
  title: 'Untitled',
  bounds: { x: 0, y: 0, width: 10, height: 10 },
  x: 0,
  y: 0,
  width: 10,
  height: 10,
  z_index: 0,
  is_on_screen: true,
  on_current_space: true,
  is_minimized: false,
  kind: 'normal',
  owner_window_id: null,
}

const element: AxElement = {
  element_index: 3,
  role: 'check box',
  label: 'Bold',
  value: null,
  actions: ['click'],
  states: ['enabled', 'showing'],
  enabled: true,
  selected: false,
  frame: { x: 0, y: 0, w: 5, h: 5 },
  editable: false,
  focusable: true,
}

const rest: Observation = {
  element,
  windows: [window],
  place: 'a',
  whole: 'b',
  allEvents: 4,
  changeEvents: 2,
  sinceEventMs: 1_000,
  isStatic: true,
}

/** What is known after these observations, each with its milliseconds. */
const stabilityOf = (...observations: readonly (readonly [Observation, number])[]): PixelStability => {
  const stability = new PixelStability()
  for (const [observation, at] of observations) stability.add(observation, at)
  return stability
}

/** What is seen when nothing moves any more after the action. */
const evidence = (
  after: Partial<Observation>,
  context: Partial<ActionContext> = {},
  before: Partial<Observation> = {},
): string[] => {
  const later = { ...rest, ...after }
  const stability = stabilityOf([later, 1_000], [later, 1_200])
  return compareObservations({ ...rest, ...before }, later, { window, ...context }, stability).map(
    ({ kind, detail }) => `${kind}: ${detail}`,
  )
}

test('two equal observations are no evidence', () => {
  expect(evidence({})).toEqual([])
})

test('a changed element tells which states and values it has now', () => {
  expect(evidence({ element: { ...element, states: ['enabled', 'showing', 'checked'] } })).toEqual([
    'state_changed: the element now is checked',
  ])
  expect(evidence({ element: { ...element, states: ['showing', 'focused'], value: 'on' } })).toEqual([
    'focus_moved: the element took the focus',
    'state_changed: the element now is not enabled, reads "on"',
  ])
  expect(evidence({ element: 'gone' })).toEqual(['state_changed: the element is gone'])
})

test('text is found when the element holds what it held and the text, and nothing else', () => {
  expect(
    evidence({ element: { ...element, value: 'abab' } }, { text: 'ab' }, { element: { ...element, value: 'ab' } }),
  ).toEqual(['text_found: the text stands in the element'])
  expect(
    evidence({ element: { ...element, value: 'ab' } }, { text: 'ab' }, { element: { ...element, value: 'ab' } }),
  ).toEqual(['text_missing: the element reads "ab"'])
})

test('a readable element that holds other text than was typed confirms nothing', () => {
  const [was, is] = [
    { ...element, value: '' },
    { ...element, value: 'Gre', states: [] },
  ]
  const seen = compareObservations(
    { ...rest, element: was },
    { ...rest, element: is, place: 'x' },
    { window, text: 'Grüße' },
    new PixelStability(),
  )
  expect(seen).toEqual([{ kind: 'text_missing', detail: 'the element reads "Gre"' }])
  expect(seen.some(isConfirming)).toBe(false)
})

test('windows that opened and closed are named', () => {
  const menu: Window = { ...window, window_id: 8, kind: 'popup', title: '' }
  expect(evidence({ windows: [menu] })).toEqual([
    'window_opened: popup 8 opened',
    'window_closed: window 7 "Untitled" closed',
  ])
})

test('a new title of a window is a changed state', () => {
  expect(evidence({ windows: [{ ...window, title: 'Saved' }] })).toEqual([
    'state_changed: window 7 "Saved" has a new title',
  ])
})

test('changed pixels count once they stay, in a window where nothing moves by itself', () => {
  const [moved, halfWay] = [
    { ...rest, place: 'x' },
    { ...rest, place: 'half way' },
  ]
  expect(evidence({ place: 'x' })).toEqual(['pixels_changed: the pixels at the place changed and stay so'])
  expect(evidence({ whole: 'x' })).toEqual(['pixels_changed: the pixels of the window changed and stay so'])
  expect(compareObservations(rest, moved, { window }, stabilityOf([moved, 1_000]))).toEqual([])
  expect(compareObservations(rest, moved, { window }, stabilityOf([moved, 1_000], [moved, 1_030]))).toEqual([])
  expect(compareObservations(rest, moved, { window }, stabilityOf([halfWay, 1_000], [moved, 1_150]))).toEqual([])
  expect(evidence({ place: 'x', whole: 'x' }, {}, { isStatic: false })).toEqual([])
})

test('changes that the application tells of count where it was silent before', () => {
  expect(evidence({ changeEvents: 3 })).toEqual([
    'application_reacted: the application, silent before, told of 1 change(s)',
  ])
  expect(evidence({ changeEvents: 3 }, {}, { sinceEventMs: 10 })).toEqual([])
  expect(evidence({ changeEvents: 3 }, { hasPendingEvents: true })).toEqual([])
  expect(evidence({ changeEvents: undefined }, {}, { changeEvents: undefined })).toEqual([])
})

test('events that tell of no change are no evidence', () => {
  expect(evidence({ allEvents: 9 })).toEqual([])
})

test('what a window shows that was told that it has the focus is no evidence', () => {
  const focused = { ...element, states: [...element.states, 'focused'] }
  expect(evidence({ element: focused, changeEvents: 5, whole: 'x' }, { isFocusFeigned: true })).toEqual([])
  expect(evidence({ place: 'x' }, { isFocusFeigned: true })).toHaveLength(1)
})

test('what could not be looked at is no evidence', () => {
  expect(evidence({ element: undefined, place: undefined, whole: undefined })).toEqual([])
})

test('what a toolkit accepted does not confirm', () => {
  expect(isConfirming({ kind: 'ax_action', detail: '' })).toBe(false)
  expect(isConfirming({ kind: 'person_undisturbed', detail: '' })).toBe(false)
  expect(isConfirming({ kind: 'value_read_back', detail: '' })).toBe(true)
})

/** Of a button that is pressed. */
const button: AxElement = { ...element, role: 'push button', label: 'Send' }
const press: Partial<ActionContext> = { pressed: { x: 0, y: 0, width: 5, height: 5 } }
const said = (states: readonly string[]) => ({ ...button, states: [...button.states, ...states] })

test('what every press of a control does confirms nothing', () => {
  const before = { element: button, focusEvents: 3, lastFocus: 7 }
  expect(evidence({ element: said(['pressed', 'focused']) }, press, before)).toEqual([])
  // The mark of the focus, and what tells of it.
  const focused = { element: said(['focused']), changeEvents: 3, focusEvents: 4, lastFocus: 3, place: 'c', whole: 'd' }
  expect(evidence(focused, press, before)).toEqual([])
  expect(evidence({ element: button, place: 'c' }, press, before)).toEqual([])
})

test('what comes of the press of a control confirms it', () => {
  const before = { element: button, focusEvents: 3, lastFocus: 7 }
  const told = { element: said(['focused']), changeEvents: 4, focusEvents: 4, lastFocus: 3 }
  expect(evidence(told, press, before)).toEqual([
    'application_reacted: the application, silent before, told of 1 change(s)',
  ])
  // The focus was there already.
  const again = { element: button, changeEvents: 3, focusEvents: 4, lastFocus: 7 }
  expect(evidence(again, press, before)).toEqual([
    'application_reacted: the application, silent before, told of 1 change(s)',
  ])
  expect(evidence({ element: button, whole: 'd' }, press, before)).toEqual([
    'pixels_changed: the pixels of the window changed and stay so',
  ])
  expect(
    evidence({ element: { ...button, value: 'checked', states: [...button.states, 'pressed'] } }, press, before),
  ).toEqual(['state_changed: the element now reads "checked"'])
})
