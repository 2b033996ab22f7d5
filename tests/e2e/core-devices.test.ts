/** The display's own pointer and keyboard, as the binding gives them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CoreDevices, Desktop, sweepCoreDevices } from '@backlot/native'
import { type BareServer, startBareServer } from '../support/bare-server.ts'
import { until } from '../support/until.ts'

let server: BareServer
let desktop: Desktop
let devices: CoreDevices

beforeAll(async () => {
  server = await startBareServer('-screen', '0', '1280x800x24')
  desktop = await Desktop.open(server.display)
  devices = await CoreDevices.open(desktop)
})

afterAll(async () => {
  await devices?.close()
  desktop?.close()
  await server?.[Symbol.asyncDispose]()
})

test('calls are done in the order in which they are made, without waiting for one another', async () => {
  const places = Array.from({ length: 200 }, (_, nth) => ({ x: nth * 3, y: nth * 2 }))
  const seen: number[] = []
  await Promise.all(places.map((to, nth) => devices.move(to, 0).then(() => seen.push(nth))))
  expect(await devices.position()).toEqual({ x: 597, y: 398 })
  expect(await desktop.cursorPosition()).toEqual({ x: 597, y: 398 })
  expect(seen.length).toBe(places.length)
})

test('what cannot be done is refused by its code, and the next call works', async () => {
  const code = (call: Promise<unknown>) => call.then(String, (error: { code: string }) => error.code)
  expect(await code(devices.move({ x: 1280, y: 0 }, 0))).toBe('invalid_argument')
  expect(await code(devices.keyDown('retrun'))).toBe('unknown_key')
  expect(await code(devices.pressKeys(['ctrl', 'fn']))).toBe('unsupported_key')
  expect(await code(devices.click({ button: 'left', count: 1, modifiers: ['hyper'] }))).toBe('unknown_modifier')
  expect(await code(devices.typeText('a\u0001', 0))).toBe('text_not_typable')
  await devices.pressKeys(['CTRL', 'Page_Down'])
  await devices.pressKeys(['command', 'pagedown', 'Enter'])
})

test('a call that is cancelled rejects, and those that come later do not', async () => {
  const from = { x: 10, y: 10 }
  await devices.move(from, 0)
  const moving = devices.move({ x: 1000, y: 10 }, 600_000)
  const queued = devices.move({ x: 5, y: 5 }, 0)
  const codes = Promise.allSettled([moving, queued])
  await until('the pointer on its way', async () => (await devices.position()).x > from.x || undefined)
  devices.cancel()
  const later = devices.move({ x: 7, y: 8 }, 0)
  expect((await codes).map((each) => each.status === 'rejected' && each.reason.code)).toEqual([
    'cancelled',
    'cancelled',
  ])
  await later
  expect(await devices.position()).toEqual({ x: 7, y: 8 })
})

test('after the end nothing is done and nothing is left', async () => {
  const other = await CoreDevices.open(desktop)
  await other.keyDown('shift')
  await other.close()
  await other.close()
  await expect(other.keyUp('shift')).rejects.toMatchObject({ code: 'agent_closed' })
  expect(await sweepCoreDevices(server.display)).toBe(0)
})
