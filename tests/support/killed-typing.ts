/** A round of the kill test of typing: the daemon is killed while it has keycodes of the person's on loan. */
import { type Application, startXterm } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { driverCommand } from './driver.ts'
import type { Target } from './look.ts'
import { connect, type McpClient } from './mcp-client.ts'
import { until } from './until.ts'
import { displayState, keymapOf } from './witness/index.ts'

/** A terminal to type into, and the person's keys as they were. */
export interface TypingScene {
  readonly app: Application
  readonly target: Target
  readonly client: McpClient
  readonly keymap: Readonly<Record<string, readonly number[]>>
}

/** Characters that no key of a plain keyboard gives. */
const rare = 'Жé€世界ßøΩ'

/** Sets the scene; the daemon runs then. */
export const openTypingScene = async (on: TestDesktop): Promise<TypingScene> => {
  const app = await startXterm(on)
  const target = { pid: app.pid, window_id: app.windowId }
  const keymap = await keymapOf(on)
  const client = await connect(on)
  await client.ask('press_key', { ...target, key: 'a' })
  return { app, target, client, keymap }
}

/** Kills the daemon when the terminal has read `reads` more times, types again, and gives what is left, in words. */
export const killedTyping = async (on: TestDesktop, scene: TypingScene, reads: number): Promise<string[]> => {
  const { pid } = JSON.parse((await on.run(driverCommand('status'))).stdout) as { pid: number }
  const mark = scene.app.journal.mark()
  const typing = (async () => {
    for (;;) if ((await scene.client.call('type_text', { ...scene.target, text: rare })).isError) return
  })()
  await until('the typing to begin', () => scene.app.journal.entries(mark).length >= reads)
  process.kill(pid, 'SIGKILL')
  await typing
  await scene.client.ask('press_key', { ...scene.target, key: 'b' })
  const { masters } = await displayState(on)
  const keymap = await keymapOf(on)
  const changed = Object.keys({ ...keymap, ...scene.keymap }).filter(
    (code) => JSON.stringify(keymap[code]) !== JSON.stringify(scene.keymap[code]),
  )
  return [
    ...changed.map((code) => `keycode ${code} is ${keymap[code]} instead of ${scene.keymap[code]}`),
    ...masters.filter((name) => name.startsWith(`backlot ${pid} `)),
  ]
}
