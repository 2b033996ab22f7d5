import { expect, test } from 'bun:test'
import { inShell } from './refused.ts'

test('where the SDK names its calls, a shell is told the commands', () => {
  const told = {
    '`Sandbox.list({ local: true })` names those there are.': '`backlot sandbox list --local` names those there are.',
    "`Sandbox.list({ runtime: 'cloud' })` names those.": '`backlot sandbox list --runtime cloud` names those.',
    'Continue it with `Sandbox.resume("lab")`.': 'Continue it with `backlot sandbox resume lab`.',
    'Allow more, or read `Sandbox.logs`.': 'Allow more, or read `backlot sandbox logs NAME`.',
    '`Sandbox.delete("a$1", { runtime })`, or remove': '`backlot sandbox rm a$1 --runtime NAME`, or remove',
    'Sign in with `login()`.': 'Sign in with `backlot login`.',
    'The sandbox "$&" is not there.': 'The sandbox "$&" is not there.',
  }
  for (const [message, text] of Object.entries(told)) expect(inShell(message)).toBe(text)
})
