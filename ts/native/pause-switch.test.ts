import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PauseSwitch } from './pause-switch.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pauseSwitch-'))
  file = join(folder, 'driver-0.paused')
})

afterEach(() => rmSync(folder, { recursive: true }))

test('a pause of the person stays whoever ends', () => {
  using pauseSwitch = new PauseSwitch(file)
  pauseSwitch.pause('command')
  expect(readFileSync(file, 'utf8')).toMatch(/^command \S+\n$/)
  using other = new PauseSwitch(file)
  expect(other.state).toMatchObject({ paused: true, paused_by: 'command' })
})

test('a pause of a view ends with the server of the view', () => {
  using pauseSwitch = new PauseSwitch(file)
  pauseSwitch.pause('view')
  expect(new PauseSwitch(file).state).toMatchObject({ paused: true, paused_by: 'view' })
  const [by, at, , began] = readFileSync(file, 'utf8').trim().split(' ')
  // No process, one that began at another time, and what a killed writer left.
  for (const holder of [`999999999 ${began}`, `${process.pid} 1`, '', 'x y']) {
    writeFileSync(file, `${by} ${at} ${holder}\n`)
    expect(new PauseSwitch(file).state.paused).toBe(false)
  }
  // The next pause is one of its own.
  expect(new PauseSwitch(file).pause('command')).toMatchObject({ paused: true, paused_by: 'command' })
})
