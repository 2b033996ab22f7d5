/** A text with capitals and other scripts, on every layout, in a covered window of every toolkit. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startDesktop } from '@backlot/headless'
import { TestDesktop } from '../support/desktop.ts'
import { type Action, actions, cleared, typeInto } from '../support/matrix/actions.ts'
import { cellOf } from '../support/matrix/cell.ts'
import { toolkits } from '../support/matrix/scene.ts'
import { connect } from '../support/mcp-client.ts'
import { seatPerson } from '../support/person.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(300_000))

const layouts = ['us', 'de', 'fr', 'ru']

for (const [toolkit, open] of Object.entries(toolkits)) {
  test(`text arrives exactly in ${toolkit}, on ${layouts.join(', ')}`, async () => {
    await using desktop = await startDesktop()
    const on = new TestDesktop(desktop)
    await using client = await connect(on)
    await using scene = await open(on, client)
    const person = await seatPerson(on, '1240x740+10+10')
    const { text } = actions
    if (text === undefined) throw new Error('the matrix types no text')
    const wrong: unknown[] = []
    for (const layout of Array.from({ length: rounds(1) }, () => layouts).flat()) {
      const typed: Action = {
        ...text,
        async run(asking, into) {
          await on.run(['setxkbmap', layout])
          // What a field of a browser holds is replaced by Ctrl+A, on a layout without Latin letters as well.
          await cleared(asking, into)
          return typeInto(asking, into)
        },
      }
      const cell = await cellOf(client, scene, person, typed)
      if (cell.outcome !== 'arrived') wrong.push({ layout, ...cell })
    }
    expect(wrong).toEqual([])
  })
}
