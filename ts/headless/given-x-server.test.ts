import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTicksOf } from '@backlot/native/proc-stat'
import { endXServer, partOf } from './given-x-server.ts'

const given = { number: '1000', authority: '/nowhere', vncSocket: undefined, pid: process.pid }

test('an X server lives as long as its process, and not as another with its pid', async () => {
  const ending = new AbortController()
  const living = partOf({ ...given, startTicks: startTicksOf(process.pid) }, ending.signal)
  const followed = partOf({ ...given, startTicks: (startTicksOf(process.pid) ?? 0) + 1 }, ending.signal)
  expect([living.isAlive(), followed.isAlive()]).toEqual([true, false])
  expect((await followed.failed).code).toBe('desktop_not_started')
  ending.abort()
  await living.exited
})

test('what a folder says of another process or display ends and removes nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'given-'))
  const lock = '/tmp/.X999-lock'
  const other = Bun.spawn(['sleep', '1000'])
  try {
    writeFileSync(lock, `${String(other.pid).padStart(10)}\n`)
    const said = { number: '999', lock_pid: other.pid, pid: other.pid, start_ticks: startTicksOf(other.pid) }
    writeFileSync(join(folder, 'x-server.json'), JSON.stringify({ ...said, shows_screen: true }))
    await endXServer(folder)
    expect([other.exitCode ?? other.signalCode, existsSync(lock)]).toEqual([null, true])
  } finally {
    other.kill()
    await other.exited
    rmSync(lock, { force: true })
    rmSync(folder, { recursive: true, force: true })
  }
})
