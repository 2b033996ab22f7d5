import { expect, test } from 'bun:test'
import { zoomsKept } from '@backlot/contract/limits'
import { fromZoom } from './zoom-points.ts'
import { type Zoom, ZoomedWindows } from './zoomed.ts'

const zoom: Zoom = { window_id: 7, region: { x: 100, y: 40, width: 1000, height: 300 }, width: 500, height: 150 }
const window = { width: 1200, height: 400 }

test('a point of the picture is the window pixel that it shows', () => {
  expect(fromZoom(zoom, window, 0, 0)).toEqual({ x: 100, y: 40 })
  expect(fromZoom(zoom, window, 250, 75)).toEqual({ x: 600, y: 190 })
  expect(fromZoom(zoom, window, 499.9, 149.9)).toEqual({ x: 1099, y: 339 })
})

test('a point beyond the picture, or beyond a window that shrank, is refused', () => {
  for (const [x, y] of [
    [-1, 0],
    [0, 150],
    [500, 0],
  ] as const) {
    expect(() => fromZoom(zoom, window, x, y)).toThrow('lies outside the last zoom picture, 500x150')
  }
  expect(() => fromZoom(zoom, { width: 300, height: 300 }, 250, 75)).toThrow('call zoom again')
})

test('the last picture of each process is kept, a limited number of them', () => {
  const zoomed = new ZoomedWindows()
  const me = ['client-1']
  for (let pid = 1; pid <= zoomsKept; pid++) zoomed.keep(me, pid, zoom)
  zoomed.keep(me, 1, { ...zoom, window_id: 8 })
  zoomed.keep(me, zoomsKept + 1, zoom)
  expect(zoomed.of(me, 1)?.window_id).toBe(8)
  expect(zoomed.of(me, 2)).toBeUndefined()
  zoomed.clear()
  expect(zoomed.of(me, 1)).toBeUndefined()
})

test('a picture is that of the session and the connection that it was given to', () => {
  const zoomed = new ZoomedWindows()
  zoomed.keep(['session a', 'client-1'], 1, zoom)
  zoomed.keep(['client-1'], 1, { ...zoom, window_id: 8 })
  expect(zoomed.of(['session a', 'client-2'], 1)?.window_id).toBe(7)
  expect(zoomed.of(['session b', 'client-1'], 1)?.window_id).toBe(8)
  expect(zoomed.of(['client-2'], 1)).toBeUndefined()
  zoomed.forget('session a')
  expect(zoomed.of(['session a', 'client-2'], 1)).toBeUndefined()
  expect(zoomed.of(['client-1'], 1)?.window_id).toBe(8)
})
