/** Dialogs that an agent opens and answers while a person types in the window in front. */

import { expect } from 'bun:test'
import { type Application, endApplication, startDialogs } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { element, elementsOf, middleOf, windowsOf } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { meanwhile } from './task.ts'
import { until } from './until.ts'
import { displayState } from './witness/index.ts'

/** Toolkits with an application that opens dialogs. */
export const toolkits = ['gtk3', 'qt5', 'qt6'] as const

type Toolkit = (typeof toolkits)[number]

const answer = async (client: McpClient, app: Application, dialog: string): Promise<void> => {
  const mark = app.journal.mark()
  const window = await until(`the dialog that is to ${dialog}`, async () =>
    (await windowsOf(client, app.pid)).find(
      ({ window_id, is_on_screen }) => window_id !== app.windowId && is_on_screen,
    ),
  )
  const inside = { pid: app.pid, window_id: window.window_id }
  const button = dialog === 'choose' ? 'Cancel' : 'Yes'
  await until('its button', async () => (await elementsOf(client, inside)).some(({ label }) => label === button))
  const { element_index } = await element(client, inside, button)
  await client.ask('click', { ...inside, element_index })
  const { value } = await app.journal.waitFor(`the answer of ${dialog}`, ({ type }) => type === 'answered', mark)
  expect(value).toBe(dialog === 'choose' ? null : true)
  await until('the dialog to close', async () =>
    (await windowsOf(client, app.pid)).every(({ window_id }) => window_id !== window.window_id),
  )
}

/** Opens both dialogs of a toolkit by a key, by a click and by an element's action; all that the person types meanwhile arrives in her window. */
export const dialogsOf = async (on: TestDesktop, client: McpClient, toolkit: Toolkit): Promise<void> => {
  const app = await startDialogs(on, toolkit)
  const target = { pid: app.pid, window_id: app.windowId }
  try {
    await meanwhile(on, async (person) => {
      for (const [dialog, letter, label] of [
        ['choose', 'o', 'Choose'],
        ['ask', 'm', 'Ask'],
      ] as const) {
        await client.ask('hotkey', { ...target, keys: ['ctrl', letter] })
        await answer(client, app, dialog)
        await client.ask('click', { ...target, ...(await middleOf(client, target, label)) })
        await answer(client, app, dialog)
        const { element_index } = await element(client, target, label)
        await client.ask('click', { ...target, element_index })
        await answer(client, app, dialog)
      }
      const isActive = async () => (await displayState(on)).active_window === person.window.windowId
      await until("the person's window to be the active one", isActive)
    })
  } finally {
    await endApplication(on, app)
  }
}
