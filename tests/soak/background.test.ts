/** What reaches a window in the background: toolkit by action by placing, under each window manager. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDesktop, type WindowManagerName } from '@backlot/headless'
import { TestDesktop } from '../support/desktop.ts'
import { exceptions } from '../support/matrix/exceptions.ts'
import { type Placing, type Row, rowsOf, tableOf } from '../support/matrix/matrix.ts'
import { pageOf } from '../support/matrix/page.ts'
import { toolkits } from '../support/matrix/scene.ts'
import { connect } from '../support/mcp-client.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(1_200_000))

const managers: readonly WindowManagerName[] = ['openbox', 'xfwm4', 'metacity']
const placings: readonly Placing[] = ['covered', 'other workspace', 'minimised']
const tables: string[] = []

/** Cells that are neither done nor refused for a reason that is listed. */
const unexplained = (toolkit: string, placing: Placing, row: Row): string[] =>
  Object.entries(row).flatMap(([action, cell]) => {
    const listed = exceptions.filter(
      (each) => each.toolkits.includes(toolkit) && each.placings.includes(placing) && each.actions.includes(action),
    )
    if (cell.outcome === 'refused' && listed.some(({ code }) => code === cell.code)) return []
    if ((cell.outcome === 'arrived' || cell.outcome === 'absent') && listed.every(({ varies }) => varies)) return []
    return [`${toolkit}, ${placing}, ${action}: ${JSON.stringify(cell)}`]
  })

for (const windowManager of managers) {
  test(`what reaches the background under ${windowManager} is what the documentation says`, async () => {
    await using desktop = await startDesktop({ windowManager })
    const on = new TestDesktop(desktop)
    await using client = await connect(on)
    const wrong: string[] = []
    const lines: { label: string; row: Row }[] = []
    const names = Object.keys(toolkits)
    for (const [at, toolkit] of Array.from({ length: rounds(1) }, () => names)
      .flat()
      .entries()) {
      for (const [placing, row] of Object.entries(await rowsOf(on, client, toolkit, placings))) {
        // The table shows the first round.
        if (at < names.length) lines.push({ label: `${toolkit}, ${placing}`, row })
        wrong.push(...unexplained(toolkit, placing as Placing, row))
      }
    }
    tables.push(`## ${windowManager}\n\n${tableOf(lines)}\n`)
    expect(wrong).toEqual([])
  })
}

afterAll(() => {
  // A run of some of it has no page.
  if (tables.length < managers.length) return
  const folder = join(import.meta.dir, '../../target/test-results/docs')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'background.md'), pageOf(tables))
})
