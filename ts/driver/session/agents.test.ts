import { expect, test } from 'bun:test'
import { Failure } from '@backlot/contract/failure'
import { Agents } from './agents.ts'

test('a gesture of a call that is over rejects, and makes no agent', async () => {
  const agents = new Agents(() => Promise.reject(new Error('no agent was asked for')))
  const over = AbortSignal.abort(new Failure('paused_by_person', 'The person has paused all actions.'))
  // A caller that only catches a rejection has to be enough.
  const outcome = agents.gesture('one', over, async () => 'done').catch((error: unknown) => Failure.from(error).code)
  expect(await outcome).toBe('paused_by_person')
  await agents.close()
})
