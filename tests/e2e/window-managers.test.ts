/** Private desktops under other window managers than openbox. */
import { expect, test } from 'bun:test'
import { startDesktop, windowManagerNames } from '@backlot/headless'
import { backlotCommand } from '../support/backlot.ts'

for (const windowManager of windowManagerNames) {
  test(`a private desktop runs ${windowManager}, and nothing of it stays`, async () => {
    const desktop = await startDesktop({ windowManager })
    const manager = desktop.pids.window_manager
    const doctor = Bun.spawnSync(['xprop', '-root', '_NET_SUPPORTING_WM_CHECK'], { env: { ...desktop.env } })
    expect(doctor.stdout.toString()).toContain('window id # 0x')
    await desktop[Symbol.asyncDispose]()
    expect(await Bun.file(`/proc/${manager}/stat`).exists()).toBe(false)
  })
}

test('an unknown window manager is refused with the names that there are', () => {
  const refused = Bun.spawnSync(backlotCommand('desktop', '--window-manager', 'twm'))
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr.toString()).toContain('openbox, xfwm4, metacity, kwin_x11')
})
