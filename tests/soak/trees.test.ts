import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startChromium, startFirefox } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { compareTree } from '../support/tree-comparison.ts'
import { until } from '../support/until.ts'

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

/** A part of LibreOffice, whose process is a child of its launcher. */
const office = (part: string) => async () => {
  const profile = `-env:UserInstallation=file://${on().path('libreoffice-profile')}`
  on().start(['soffice', `--${part}`, '--norestore', '--nologo', profile], { SAL_USE_VCLPLUGIN: 'gtk3' })
  const title = 'Untitled 1'
  const window = await until(`LibreOffice ${part}`, async () => {
    const { windows } = await client.ask<{ windows: { pid: number; title: string }[] }>('list_windows')
    return windows.find((each) => each.title.startsWith(title) && each.title.toLowerCase().includes(part))
  })
  return { pid: window.pid, title }
}

const applications: readonly (readonly [string, () => Promise<{ readonly pid: number; readonly title: string }>])[] = [
  ['gtk3-widget-factory', program('gtk3-widget-factory')],
  ['gtk3-demo', program('gtk3-demo')],
  ['galculator (GTK 3)', program('galculator')],
  ['LibreOffice Writer', office('writer')],
  ['featherpad (Qt 5)', program('featherpad', '--standalone')],
  ['speedcrunch (Qt 5)', program('speedcrunch')],
  ['a page in Chromium', () => startChromium(on())],
  ['a page in Firefox', () => startFirefox(on())],
  ['LibreOffice Calc', office('calc')],
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
