import { expect, test } from 'bun:test'
import { privateDesktop } from '../../support/desktop.ts'
import { gestures, grabsLeft, killedDriver, openScene } from '../../support/killed-driver.ts'

const on = privateDesktop()

test('nothing is left of a driver that was killed in the middle of actions, five times', async () => {
  const scene = await openScene(on(), async () => ({}))
  const calls = [gestures.click(scene), gestures.press_key(scene)] as const
  for (let round = 1; round <= 5; round += 1) {
    expect(await killedDriver(on(), scene, round / 6, calls)).toEqual([])
    expect(await grabsLeft(on())).toEqual([])
  }
  await scene.client[Symbol.asyncDispose]()
})
