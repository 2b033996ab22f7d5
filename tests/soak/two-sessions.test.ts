/** Two sessions that work in two applications at once while both are filmed, and a person who shares the desktop. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, middleOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { seatPerson } from '../support/person.ts'
import { sessionIn, turnIn, turnsIn } from '../support/recorded.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(240_000))

const on = privateDesktop()

/** How long they work. */
const workMs = rounds(60) * 1_000

/** Types and clicks until the time is over; gives what it typed and how often it clicked. */
const work = async (client: McpClient, app: Application, session: string) => {
  const target = { pid: app.pid, window_id: app.windowId, session }
  const { element_index } = await element(client, target, 'Notes')
  const button = await middleOf(client, target, 'Press me')
  const deadline = performance.now() + workMs
  let [typed, clicks] = ['', 0]
  while (performance.now() < deadline) {
    const text = `${session} ${clicks}, `
    await client.ask('type_text', { ...target, element_index, text })
    typed += text
    await client.ask('click', { ...target, ...button })
    clicks += 1
  }
  return { typed, clicks }
}

test('both journals and both films are complete, and the person notices nothing', async () => {
  const names = ['one', 'other'] as const
  const apps = [
    await startGtk3(on(), 'controls', { title: 'Application one', geometry: '420x480+60+60' }),
    await startGtk3(on(), 'controls', { title: 'Application other', geometry: '420x480+300+180' }),
  ]
  const person = await seatPerson(on())
  await using client = await connect(on())
  const folders = names.map((name) => on().path(name))
  for (const [at, session] of names.entries()) {
    await client.ask('start_recording', { output_dir: folders[at], record_video: true, session })
  }
  const done = await person.undisturbed(() =>
    Promise.all(names.map((session, at) => work(client, apps[at] as Application, session))),
  )
  for (const [at, session] of names.entries()) {
    const [app, folder = '', { typed, clicks }] = [
      apps[at] as Application,
      folders[at],
      done[at] ?? { typed: '', clicks: 0 },
    ]
    expect(await client.ask<Record<string, unknown>>('stop_recording', { session })).toMatchObject({
      last_error: null,
    })
    const entries = app.journal.entries()
    expect(entries.findLast(({ widget }) => widget === 'Notes')?.value).toBe(typed)
    expect(entries.filter(({ type }) => type === 'clicked')).toHaveLength(clicks)
    expect(turnsIn(folder)).toHaveLength(2 * clicks)
    for (let turn = 1; turn <= 2 * clicks; turn += 1) {
      const { action, files } = await turnIn(folder, turn)
      expect([turn, action.ok, action.session, files.includes('screenshot.png')]).toEqual([turn, true, session, true])
    }
    const film = join(folder, 'recording.mp4')
    const { stdout } = await on().run([
      'ffprobe',
      '-v',
      'error',
      '-show_entries',
      'format=duration',
      '-of',
      'csv=p=0',
      film,
    ])
    expect(Number(stdout)).toBeGreaterThanOrEqual(workMs / 1_000 - 2)
    expect(sessionIn(folder)).toMatchObject({ turns: 2 * clicks, last_error: null })
  }
})
