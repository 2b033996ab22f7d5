import { expect, test } from 'bun:test'
import { previewPlace } from './preview.ts'

const screen = { width: 1280, height: 800 }

test('a geometry says how large the preview is, and where', () => {
  expect(previewPlace('', screen)).toEqual({ width: 320, height: 200 })
  expect(previewPlace('400x300', screen)).toEqual({ width: 400, height: 300 })
  expect(previewPlace('400x300+10+20', screen)).toEqual({ width: 400, height: 300, position: { x: 10, y: 20 } })
  expect(previewPlace('400x300-10-20', screen)).toEqual({ width: 400, height: 300, position: { x: 870, y: 480 } })
  expect(previewPlace('4000x3000+0-0', screen)).toEqual({ width: 1280, height: 800, position: { x: 0, y: 0 } })
})
