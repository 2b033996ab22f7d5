/** A real task of many calls in a large application that is covered, while a person types in the window in front. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { python, startCalc } from '../support/applications.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { type Manner, meanwhile, perform, type Step } from '../support/task.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(300_000))

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
}, 60_000)
afterAll(() => client?.[Symbol.asyncDispose]())

const rows = [
  ['Item', 'Count', 'Price', 'Note'],
  ['Tea', '12', '3.5', 'Größe M'],
  ['Coffee', '7', '8.25', 'für Ämter'],
  ['Sugar', '100', '0.4', 'white'],
  ['Milk', '24', '1.15', 'café'],
  ['Bread', '9', '2.6', 'RYE'],
] as const

/** Types the rows and saves the sheet; every cell is a text and a key. */
const sheetSteps = (target: Target): Step[] => {
  const key = (name: string, modifiers: string[] = []): Step => ({
    tool: 'press_key',
    arguments: { ...target, key: name, ...(modifiers.length > 0 && { modifiers }) },
  })
  return [
    key('home', ['ctrl']),
    ...rows.flatMap((row) =>
      row.flatMap((cell, at): Step[] => [
        { tool: 'type_text', arguments: { ...target, text: cell } },
        key(at === row.length - 1 ? 'return' : 'tab'),
      ]),
    ),
    { tool: 'type_text', arguments: { ...target, text: '=SUM(B2:B6)' } },
    key('return'),
  ]
}

const savedSheet = async (desktop: TestDesktop, file: string): Promise<string[][]> => {
  const { stdout } = await desktop.run([python, join(import.meta.dir, '../support/fixtures/sheet.py'), file])
  return JSON.parse(stdout) as string[][]
}

/** Fills a sheet and saves it in a file of that name. */
const fill = async (manner: Manner, fileName: string): Promise<void> => {
  const { pid, windowId } = await startCalc(on())
  const target = { pid, window_id: windowId }
  const file = join(on().home, fileName)
  await meanwhile(on(), async () => {
    const steps = sheetSteps(target)
    expect(steps.length).toBeGreaterThanOrEqual(40)
    await perform(client, steps, manner)
    await client.ask('hotkey', { ...target, keys: ['ctrl', 's'] })
    const dialog = await until('the dialog that saves', async () =>
      (await windowsOf(client, pid)).find(({ window_id, kind }) => window_id !== windowId && kind === 'dialog'),
    )
    const saving = { pid, window_id: dialog.window_id }
    const name = [
      { tool: 'hotkey', arguments: { ...saving, keys: ['ctrl', 'a'] } },
      { tool: 'type_text', arguments: { ...saving, text: file } },
      { tool: 'press_key', arguments: { ...saving, key: 'return' } },
    ]
    await perform(client, name, manner)
    await until('the file', () => existsSync(file))
    await until('the dialog to close', async () =>
      (await windowsOf(client, pid)).every(({ window_id }) => window_id !== dialog.window_id),
    )
  })
  const expected = [...rows.map((row) => [...row]), ['152']]
  expect(await savedSheet(on(), file)).toEqual(expected)
  process.kill(pid, 'SIGKILL')
}

for (const manner of ['calls', 'run_steps'] satisfies Manner[]) {
  test(`a sheet is filled and saved in LibreOffice in the background, by ${manner}`, async () => {
    for (let round = 0; round < rounds(1); round += 1) await fill(manner, `${manner}-${round}.ods`)
  })
}
