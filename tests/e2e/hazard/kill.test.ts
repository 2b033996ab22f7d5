import { expect, test } from 'bun:test'
import { privateDesktop } from '../../support/desktop.ts'
import { killedDriver, openScene } from '../../support/killed-driver.ts'

const on = privateDesktop()

test('nothing is left of a driver that was killed in the middle of actions, five times', async () => {
  const scene = await openScene(on())
  for (let round = 1; round <= 5; round += 1) expect(await killedDriver(on(), scene, round * 3)).toEqual([])
  await scene.client[Symbol.asyncDispose]()
}, 120_000)
