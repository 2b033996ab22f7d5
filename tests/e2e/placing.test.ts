import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3, startXterm } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import { windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { asPerson, displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let person: Person

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  client = await connect(on())
  person = await seatPerson(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const active = async () => (await displayState(on())).active_window

const boundsOf = async (application: Application) => (await windowsOf(client, application.pid))[0]?.bounds

test(
  'a covered window is brought to the front, in both forms',
  proving(['driver.bring-to-front.call', 'driver.bring-to-front.window-id'], async () => {
    for (const target of [{ pid: app.pid }, { pid: app.pid, window_id: app.windowId }]) {
      await asPerson.activate(on(), person.window.windowId)
      await until('the person to be in front', async () => (await active()) === person.window.windowId)
      const did = await client.ask('bring_to_front', target)
      expect(did).toMatchObject({
        window_id: app.windowId,
        prior_window_id: person.window.windowId,
        effect: 'confirmed',
        evidence: [{ kind: 'window_in_front' }],
      })
      const { active_window, stacking } = await displayState(on())
      expect([active_window, stacking.at(-1)]).toEqual([app.windowId, app.windowId])
    }
    const [, shell] = await inBothForms<{ effect: string }>(on(), client, 'bring_to_front', { pid: app.pid })
    expect(shell.effect).toBe('confirmed')
    expect((await client.call('bring_to_front', { window_id: app.windowId })).structured).toMatchObject({
      code: 'missing_argument',
      argument: 'pid',
    })
  }),
)

test('a minimised window comes back to the front', async () => {
  await asPerson.minimize(on(), app.windowId)
  await until('the window to be minimised', async () => (await windowsOf(client, app.pid))[0]?.is_minimized)
  await client.ask('bring_to_front', { pid: app.pid })
  expect(await active()).toBe(app.windowId)
})

test('a window is placed without its decorations, and what is left out stays', async () => {
  const target = { pid: app.pid, window_id: app.windowId }
  const did = await client.ask<{ exact: boolean; effect: string }>('set_window_frame', {
    ...target,
    x: 300,
    y: 130,
    width: 520,
    height: 500,
  })
  expect(did).toMatchObject({ exact: true, effect: 'confirmed', bounds: { x: 300, y: 130, width: 520, height: 500 } })
  expect(await boundsOf(app)).toEqual({ x: 300, y: 130, width: 520, height: 500 })
  await client.ask('set_window_frame', { ...target, x: 240 })
  expect(await boundsOf(app)).toEqual({ x: 240, y: 130, width: 520, height: 500 })
})

test('what a program rounds is said, and what it does not allow is refused', async () => {
  const terminal = await startXterm(on())
  const target = { pid: terminal.pid, window_id: terminal.windowId }
  const did = await client.call('set_window_frame', { ...target, width: 555 })
  expect(did.structured).toMatchObject({ exact: false, effect: 'confirmed' })
  expect(did.text).toContain('It rounded width 555')
  const again = await client.call('set_window_frame', { ...target, width: 555 })
  expect(again.structured).toMatchObject({ code: 'window_manager_refused' })
  expect((await client.call('set_window_frame', target)).structured).toMatchObject({ code: 'missing_argument' })
})
