import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startCalc, startChromium, startFirefox, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { compareTree } from '../support/tree-comparison.ts'

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

const applications: readonly (readonly [string, () => Promise<{ readonly pid: number; readonly title: string }>])[] = [
  ['gtk3-widget-factory', program('gtk3-widget-factory')],
  ['mousepad (GTK 3)', program('mousepad', '--disable-server')],
  ['galculator (GTK 3)', program('galculator')],
  ['gedit (GTK 3)', program('gedit', '--standalone')],
  ['pcmanfm (GTK)', program('pcmanfm', '--no-desktop', '/')],
  ['featherpad (Qt 5)', program('featherpad', '--standalone')],
  ['speedcrunch (Qt 5)', program('speedcrunch')],
  ['the fixture in Qt 6', () => startQt(on(), 6)],
  ['a page in Chromium', () => startChromium(on())],
  ['a page in Firefox', () => startFirefox(on())],
  ['LibreOffice Calc', () => startCalc(on())],
]

describe('what an independent walk finds that a person can operate is in the tree, where it is', () => {
  for (const [name, start] of applications) {
    test(name, async () => {
      const { pid, title } = await start()
      const { compared, missing, displaced } = await compareTree(on(), client, pid, title)
      console.log(`${name}: ${compared} elements compared`)
      expect({ missing, displaced }).toEqual({ missing: [], displaced: [] })
      expect(compared).toBeGreaterThanOrEqual(20)
    }, 120_000)
  }
})
