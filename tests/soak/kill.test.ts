import { expect, setDefaultTimeout, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { everyKind, killedDuring, openWideScene } from '../support/killed-kinds.ts'
import { killedParent } from '../support/killed-parent.ts'
import { killedTyping, openTypingScene } from '../support/killed-typing.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(1_500_000))

const on = privateDesktop()
const actions = rounds(100)
const parents = rounds(50)
const typings = rounds(30)

test(`nothing is left of a driver that was killed in the middle of each kind of action, ${actions} times in all`, async () => {
  const scene = await openWideScene(on())
  for (let round = 0; round < actions; round += 1) {
    const kind = everyKind[round % everyKind.length] ?? ''
    // Every round of a kind is at another part of it.
    const part = (Math.floor(round / everyKind.length) + 0.5) / Math.ceil(actions / everyKind.length)
    const left = await killedDuring(scene, kind, part)
    expect({ round, kind, left }).toEqual({ round, kind, left: [] })
  }
  await scene.client[Symbol.asyncDispose]()
})

test(`nothing is left of a desktop whose parent was killed, ${parents} times`, async () => {
  for (let round = 0; round < parents; round += 1) expect(await killedParent()).toEqual([])
})

test(`no keycode stays on loan of a driver that was killed while it typed, ${typings} times`, async () => {
  const scene = await openTypingScene(on())
  for (let round = 0; round < typings; round += 1) {
    expect({ round, left: await killedTyping(on(), scene, 1 + (round % 9)) }).toEqual({ round, left: [] })
  }
  await scene.client[Symbol.asyncDispose]()
})
