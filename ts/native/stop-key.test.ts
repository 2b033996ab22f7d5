import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StopKey } from './index.ts'
import { PauseSwitch } from './pause-switch.ts'
import { StopKeyWatch } from './stop-key.ts'

test('a press that is told late halts nothing when the person has chosen no key meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stop-key-'))
  try {
    using pauseSwitch = new PauseSwitch(join(folder, 'driver-0.paused'))
    let told = (_isPressed: boolean): void => undefined
    const key = { pressed: () => new Promise<boolean>((resolve) => (told = resolve)), close: () => told(false) }
    let combination = 'ctrl+F7'
    const watch = new StopKeyWatch(
      pauseSwitch,
      async () => combination,
      async () => key as unknown as StopKey,
    )
    await watch.follow()
    combination = ''
    const following = watch.follow()
    // The watch ends, and a press that came before is told first.
    await Promise.resolve()
    told(true)
    await following
    await Bun.sleep(0)
    expect(pauseSwitch.state.paused).toBe(false)
    // One that counts does.
    combination = 'ctrl+F8'
    await watch.follow()
    told(true)
    await Bun.sleep(0)
    expect(pauseSwitch.state.paused).toBe(true)
    await watch.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
