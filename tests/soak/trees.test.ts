import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCalc, startChromium, startFirefox } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { startWriter } from '../support/office.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { compareTree } from '../support/tree-comparison.ts'

setDefaultTimeout(limitMs(120_000))

const on = privateDesktop({ size: { width: 1600, height: 1100 } })
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
}, 60_000)

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
}, 30_000)

const program =
  (...command: [string, ...string[]]) =>
  async () => ({ pid: on().start(command).pid, title: '' })

/** Without its settings it shows no keys. */
const keypad = async () => {
  const folder = join(on().home, '.config/SpeedCrunch')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'SpeedCrunch.ini'), '[SpeedCrunch]\nLayout\\KeypadVisible=true\n')
  return { pid: on().start(['speedcrunch']).pid, title: '' }
}

const rows = Array.from({ length: 24 }, (_, at) => `Row ${at}`)

/** Each with how many named elements it has at least. */
const applications: readonly (readonly [
  string,
  number,
  () => Promise<{ readonly pid: number; readonly title: string }>,
])[] = [
  ['gtk3-widget-factory', 40, program('gtk3-widget-factory')],
  ['gtk3-demo', 40, program('gtk3-demo')],
  ['galculator (GTK 3)', 25, program('galculator')],
  ['LibreOffice Writer', 40, () => startWriter(on(), client)],
  ['mousepad (GTK 3)', 5, program('mousepad', '--disable-server')],
  ['mate-calc (GTK 3)', 20, program('mate-calc')],
  ['a list of zenity (GTK 3)', 20, program('zenity', '--list', '--height=900', '--column=Name', ...rows)],
  ['gedit (GTK 3)', 5, program('gedit', '--standalone')],
  ['LibreOffice Calc', 40, () => startCalc(on())],
  ['featherpad (Qt 5)', 10, program('featherpad', '--standalone')],
  ['speedcrunch (Qt 5)', 20, keypad],
  ['a page in Chromium', 20, () => startChromium(on())],
  ['a page in Firefox', 20, () => startFirefox(on())],
]

describe('what an independent walk finds that a person can operate is in the tree, where it is', () => {
  for (const [name, least, start] of applications) {
    test(name, async () => {
      const { pid, title } = await start()
      for (let round = 0; round < rounds(1); round += 1) {
        const { compared, missing, displaced } = await compareTree(on(), client, pid, title)
        console.log(`${name}: ${compared} elements compared`)
        expect({ missing, displaced }).toEqual({ missing: [], displaced: [] })
        expect(compared).toBeGreaterThanOrEqual(least)
      }
    })
  }
})
