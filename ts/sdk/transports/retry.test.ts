import { expect, test } from 'bun:test'
import { computer } from '@backlot/contract/computer'
import type { Command } from '@backlot/contract/computer/command'
import { UnavailableError } from '../errors.ts'
import { connectionLost, unreachable } from './loss.ts'
import { isRead, retrying } from './retry.ts'

test('what is sent twice acts on nothing', () => {
  const wrong = Object.entries<Command>(computer).filter(
    ([name, { acts, needs }]) => isRead(name) && (acts || needs === 'pty'),
  )
  expect(wrong.map(([name]) => name)).toEqual([])
  const writes = ['run_command', 'write_text', 'delete_file', 'move_path', 'terminal_send', 'command_input', 'launch']
  expect(writes.filter(isRead)).toEqual([])
})

test('only what was not sent, or only looks, is tried again, once', async () => {
  const tries = async (isSafe: boolean, error: Error) => {
    let count = 0
    await retrying(isSafe, new AbortController().signal, async () => {
      count += 1
      throw error
    }).catch(() => undefined)
    return count
  }
  expect([await tries(true, connectionLost('h', 'w')), await tries(false, connectionLost('h', 'w'))]).toEqual([2, 1])
  expect([await tries(true, unreachable('h', 'w')), await tries(false, unreachable('h', 'w'))]).toEqual([2, 2])
  expect(await tries(true, new UnavailableError('server_incompatible', 'm'))).toBe(1)
  expect(await tries(true, new Error('not ours'))).toBe(1)
})
