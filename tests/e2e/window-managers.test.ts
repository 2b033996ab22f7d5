/** Private desktops under other window managers than openbox. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDesktop, windowManagerNames } from '@backlot/headless'
import { startGtk3 } from '../support/applications.ts'
import { backlotCommand } from '../support/backlot.ts'
import { TestDesktop } from '../support/desktop.ts'
import { connect } from '../support/mcp-client.ts'

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

test.each(windowManagerNames)('%s does not complain of what an agent asks applications', async (windowManager) => {
  await using desktop = await startDesktop({ windowManager })
  const on = new TestDesktop(desktop)
  await using client = await connect(on)
  const { pid, windowId } = await startGtk3(on, 'controls')
  for (let times = 0; times < 3; times += 1) await client.ask('click', { pid, window_id: windowId, x: 10, y: 300 })
  const logs = readdirSync(desktop.folder).filter((name) => name.endsWith('.log'))
  expect(logs).not.toEqual([])
  const said = logs.map((name) => readFileSync(join(desktop.folder, name), 'utf8')).join('\n')
  expect(said.split('\n').filter((line) => /pong|ping/i.test(line) && /critical|warning/i.test(line))).toEqual([])
  process.kill(pid)
})

test('an unknown window manager is refused with the names that there are', () => {
  const refused = Bun.spawnSync(backlotCommand('desktop', '--window-manager', 'twm'))
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr.toString()).toContain('openbox, xfwm4, metacity, kwin_x11')
})
