import { expect, test } from 'bun:test'
import { runsLeft } from './secrets-left.ts'

test('what is left of a secret is found in clear, in JSON, and in JSON within JSON', () => {
  const secret = 'a "b"\\\n世界 c 12345'
  expect(runsLeft([secret], secret)).toHaveLength(secret.length - 7)
  expect(runsLeft([secret], JSON.stringify({ secret }))).toHaveLength(secret.length - 7)
  expect(runsLeft([secret], JSON.stringify({ text: JSON.stringify([secret]) }))).toHaveLength(secret.length - 7)
  expect(runsLeft([secret], `before ${secret.slice(3, 11)}|behind`)).toEqual([secret.slice(3, 11)])
  expect(runsLeft([secret], `before ${secret.slice(3, 10)}|behind`)).toEqual([])
})
