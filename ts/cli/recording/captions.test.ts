import { expect, test } from 'bun:test'
import { asSubtitles, captionOf, captionsOf } from './captions.ts'

test('a turn says what was pressed, typed or clicked', () => {
  const said = (tool: string, args: Record<string, unknown>, name?: string) =>
    captionOf({ tool, arguments: args, ...(name && { locator: { role: 'push button', name, path: [], nth: 0 } }) })
  expect(said('press_key', { key: 's', modifiers: ['ctrl'] })).toBe('Ctrl + S')
  expect(said('hotkey', { keys: ['ctrl', 'shift', 'f5'] })).toBe('Ctrl + Shift + F5')
  expect(said('type_text', { text: 'x'.repeat(100) })).toBe(`“${'x'.repeat(59)}…”`)
  expect(said('click', { x: 1, y: 2 }, 'OK')).toBe('Click OK')
  expect(said('click', { x: 1, y: 2 })).toBe('Click')
  expect(said('invoke_menu', { path: ['File', 'Save'] })).toBe('File › Save')
  expect(said('drag', { from_x: 1, from_y: 2, to_x: 30, to_y: 4 })).toBe('Drag 1, 2 to 30, 4')
  expect(said('of_the_future', {})).toBe('Of the future')
})

test('a caption ends with the next, and what it says cannot command the player', () => {
  const action = { tool: 'type_text', arguments: { text: '{\\b1}a\nb' } }
  const captions = captionsOf([
    { action, at: 0 },
    { action, at: 700 },
    { action, at: 3_661_000 },
  ])
  expect(captions.map(({ from, to }) => [from, to])).toEqual([
    [0, 700],
    [700, 2_700],
    [3_661_000, 3_663_000],
  ])
  const subtitles = asSubtitles(captions, { width: 1280, height: 800 })
  expect(subtitles).toContain('Dialogue: 0,0:00:00.00,0:00:00.70,Keys,“(⧵b1)a b”')
  expect(subtitles).toContain('Dialogue: 0,1:01:01.00,1:01:03.00,')
})
