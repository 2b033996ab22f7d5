/** What ends with a private desktop because it descends from it, wherever it has gone. */
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PrivateDesktop, startDesktop } from '@backlot/headless'
import { markedCommand, processesMarked } from '../support/resource-mark.ts'
import { type RunawayKind, runaway, runawayKinds } from '../support/runaway.ts'
import { scratchFolder } from '../support/scratch.ts'
import { leftOf } from '../support/traces.ts'
import { until } from '../support/until.ts'

const patience = 60_000

let mark = 300_000

/** Waits until a program has run away, ends the desktop and expects nothing of both. */
const endsWith = async (desktop: PrivateDesktop, file: string): Promise<void> => {
  await until('the program to have left', () => existsSync(file))
  await until('it to be seen', () => processesMarked(mark).length > 0)
  await desktop[Symbol.asyncDispose]()
  expect(processesMarked(mark)).toEqual([])
  expect(leftOf(desktop)).toEqual([])
}

for (const [kind, what] of Object.entries(runawayKinds)) {
  test(
    `a program that left everything and ${what} ends with the desktop`,
    async () => {
      mark += 1
      const file = join(scratchFolder('runaway'), 'gone')
      await using desktop = await startDesktop()
      const program = await desktop.start(markedCommand(mark, runaway(kind as RunawayKind, file)))
      expect(await program.exited).toBe(0)
      await endsWith(desktop, file)
    },
    patience,
  )
}

test(
  'what the session bus has started ends with the desktop, wherever it has gone',
  async () => {
    mark += 1
    const folder = scratchFolder('runaway')
    const file = join(folder, 'gone')
    const services = join(folder, 'dbus-1/services')
    mkdirSync(services, { recursive: true })
    const words = markedCommand(mark, runaway('sleeps', file)).map((word) => Bun.which(word) ?? word)
    const service = `[D-BUS Service]\nName=org.backlot.Runaway\nExec=${words.join(' ')}\n`
    writeFileSync(join(services, 'org.backlot.Runaway.service'), service)
    await using desktop = await startDesktop({ environment: { ...process.env, XDG_DATA_HOME: folder } })
    const ping = [
      'gdbus',
      'call',
      '--session',
      '-d',
      'org.backlot.Runaway',
      '-o',
      '/',
      '-m',
      'org.freedesktop.DBus.Peer.Ping',
    ]
    Bun.spawn(ping, { env: { ...desktop.env }, stdout: 'ignore', stderr: 'ignore' })
    await endsWith(desktop, file)
  },
  patience,
)
