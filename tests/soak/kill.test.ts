import { expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { killedDriver, openScene } from '../support/killed-driver.ts'
import { killedParent } from '../support/killed-parent.ts'

const on = privateDesktop()

test('nothing is left of a driver that was killed in the middle of actions, 50 times', async () => {
  const scene = await openScene(on())
  for (let round = 1; round <= 50; round += 1) expect(await killedDriver(on(), scene, round)).toEqual([])
  await scene.client[Symbol.asyncDispose]()
}, 600_000)

test('nothing is left of a desktop whose parent was killed, 50 times', async () => {
  for (let round = 1; round <= 50; round += 1) expect(await killedParent()).toEqual([])
}, 600_000)
