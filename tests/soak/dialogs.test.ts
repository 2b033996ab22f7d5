/** Dialogs that an agent opens under other window managers: again and again, none takes a key of the person. */
import { setDefaultTimeout, test } from 'bun:test'
import { startDesktop, type WindowManagerName } from '@backlot/headless'
import { TestDesktop } from '../support/desktop.ts'
import { dialogsOf, toolkits } from '../support/dialogs.ts'
import { connect } from '../support/mcp-client.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(600_000))

const managers: readonly WindowManagerName[] = ['openbox', 'xfwm4', 'metacity']
const times = rounds(6)

for (const windowManager of managers) {
  for (const toolkit of toolkits) {
    test(`dialogs of ${toolkit} under ${windowManager} take none of the keys of a person who types`, async () => {
      await using desktop = await startDesktop({ windowManager })
      const on = new TestDesktop(desktop)
      await using client = await connect(on)
      for (let round = 0; round < times; round += 1) await dialogsOf(on, client, toolkit)
    })
  }
}
