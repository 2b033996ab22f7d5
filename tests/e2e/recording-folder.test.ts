import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { element, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { sessionIn, turnIn, turnsIn } from '../support/recorded.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
let target: Target

beforeAll(async () => {
  const app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

/** A call to a daemon of its own, beside the one of the display. */
const elsewhere = async (socket: string, name: string, args: Facts = {}): Promise<Facts> =>
  JSON.parse((await on().backlot([name, JSON.stringify(args), '--socket', socket])).stdout)

const act = async () =>
  client.ask('click', { ...target, element_index: (await element(client, target, 'Press me')).element_index })

test('a folder has one writer, in whatever process and however its path is spelled', async () => {
  const socket = on().path('other.sock')
  const folder = on().path('one-writer')
  const link = on().path('link')
  symlinkSync(dirname(folder), link)
  const spellings = [
    folder,
    `${dirname(folder)}/./${basename(folder)}`,
    join(link, basename(folder)),
    `${folder}/../${basename(folder)}//`,
  ]
  await client.ask('start_recording', { output_dir: folder, session: 'first' })
  await client.ask('click', {
    ...target,
    element_index: (await element(client, target, 'Press me')).element_index,
    session: 'first',
  })
  await turnIn(folder, 1)
  for (const output_dir of spellings) {
    const refused = { code: 'recording_not_started', owner: 'first' }
    const { structured } = await client.call('start_recording', { output_dir, session: 'second' })
    expect([output_dir, structured]).toMatchObject([output_dir, refused])
    expect(await elsewhere(socket, 'start_recording', { output_dir })).toMatchObject({ ...refused, owner: null })
  }
  expect(turnsIn(folder)).toEqual(['turn-00001'])
  await client.ask('end_session', { session: 'first' })
  await until('the end of the recording', () => sessionIn(folder).stopped_at !== null)
  // What is over is in nobody's way, in another process neither.
  await until('the other daemon to record there', async () => {
    const { recording } = await elsewhere(socket, 'start_recording', { output_dir: spellings[1] })
    return recording === true
  })
  await on().run(driverCommand('stop', '--socket', socket))
})

test('the folder of a daemon that was killed can be written by another', async () => {
  const socket = on().path('killed.sock')
  const folder = on().path('killed')
  expect(await elsewhere(socket, 'start_recording', { output_dir: folder })).toMatchObject({ recording: true })
  const { stdout } = await on().run(driverCommand('status', '--socket', socket))
  process.kill(JSON.parse(stdout).pid, 'SIGKILL')
  await until('the folder to be free', async () => {
    const { structured } = await client.call('start_recording', { output_dir: folder })
    return structured.recording === true
  })
  await client.ask('stop_recording')
})

test('a recording writes nothing into a folder that has taken the place of its own', async () => {
  const folder = on().path('moved')
  await client.ask('start_recording', { output_dir: folder })
  await act()
  await turnIn(folder, 1)
  renameSync(folder, `${folder}-away`)
  mkdirSync(folder)
  await act()
  await until('the error to be told', async () => {
    const { last_error } = await client.ask<Facts>('get_recording_state')
    return String(last_error).includes('another folder')
  })
  await client.ask('stop_recording')
  expect([turnsIn(folder), existsSync(join(folder, 'session.json'))]).toEqual([[], false])
  expect(turnsIn(`${folder}-away`)).toEqual(['turn-00001'])
})
