import { expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { everyKind, killedDuring, openWideScene } from '../support/killed-kinds.ts'
import { killedParent } from '../support/killed-parent.ts'
import { killedTyping, openTypingScene } from '../support/killed-typing.ts'

const on = privateDesktop()

test('nothing is left of a driver that was killed in the middle of each kind of action, 100 times in all', async () => {
  const scene = await openWideScene(on())
  for (let round = 0; round < 100; round += 1) {
    const kind = everyKind[round % everyKind.length] ?? ''
    // Five or six rounds a kind, each at another part of it.
    const left = await killedDuring(scene, kind, (Math.floor(round / everyKind.length) + 0.5) / 6)
    expect({ round, kind, left }).toEqual({ round, kind, left: [] })
  }
  await scene.client[Symbol.asyncDispose]()
}, 1_500_000)

test('nothing is left of a desktop whose parent was killed, 50 times', async () => {
  for (let round = 1; round <= 50; round += 1) expect(await killedParent()).toEqual([])
}, 600_000)

test('no keycode stays on loan of a driver that was killed while it typed, 30 times', async () => {
  const scene = await openTypingScene(on())
  for (let round = 0; round < 30; round += 1) {
    expect({ round, left: await killedTyping(on(), scene, 1 + (round % 9)) }).toEqual({ round, left: [] })
  }
  await scene.client[Symbol.asyncDispose]()
}, 600_000)
