import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allProcesses, hasEnded, procStat, startTicksOf } from './proc-stat.ts'

const comm = (pid: number): string => readFileSync(`/proc/${pid}/comm`, 'utf8').trim()

test('a process is told from the fields behind its name, whatever that holds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-proc-'))
  const program = join(folder, 'a) Z 1 (b')
  writeFileSync(program, '#!/bin/sh\nread line\n', { mode: 0o755 })
  await using child = Bun.spawn([program], { stdin: 'pipe', stderr: 'ignore' })
  while (comm(child.pid) !== 'a) Z 1 (b') await Bun.sleep(1)
  expect(procStat(child.pid)).toMatchObject({ pid: child.pid, parent: process.pid })
  expect(hasEnded(child.pid)).toBe(false)
  expect(startTicksOf(child.pid)).toBeGreaterThanOrEqual(startTicksOf(process.pid) ?? Number.NaN)
  child.kill()
  await child.exited
  expect([hasEnded(child.pid), startTicksOf(child.pid), procStat(child.pid)]).toEqual([true, null, null])
  rmSync(folder, { recursive: true })
})

test('a process that nobody waited for has ended, and is still there', async () => {
  const script = 'exec 3<&0; head -c 1 <&3 & echo $!; exec sleep 60'
  await using parent = Bun.spawn(['sh', '-c', script], { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
  const { value } = await parent.stdout.getReader().read()
  const pid = Number(new TextDecoder().decode(value))
  // Only a shell would wait for it.
  while (comm(parent.pid) !== 'sleep') await Bun.sleep(1)
  parent.stdin.write('x')
  parent.stdin.flush()
  while (procStat(pid)?.state !== 'Z') await Bun.sleep(1)
  expect([hasEnded(pid), startTicksOf(pid)]).toEqual([true, null])
  expect(allProcesses()).toContainEqual(expect.objectContaining({ pid, parent: parent.pid, state: 'Z' }))
})

test('a process is meant from its own start on, and none has pid 0', () => {
  const { startTicks = 0 } = procStat(process.pid) ?? {}
  expect(startTicksOf(process.pid)).toBe(startTicks)
  expect([hasEnded(process.pid, startTicks), hasEnded(process.pid, startTicks - 1)]).toEqual([false, true])
  expect([startTicksOf(0), hasEnded(0)]).toEqual([null, true])
})
