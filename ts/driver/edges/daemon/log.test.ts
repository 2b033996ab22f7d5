import { expect, test } from 'bun:test'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { daemon } from '@backlot/contract/limits'
import { scratchFolder } from '../../../../tests/support/scratch.ts'

test('a log that is over its bound keeps its newer lines', async () => {
  const file = join(scratchFolder('log'), 'driver.log')
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at} ${'x'.repeat(50)}\n`)
  writeFileSync(file, lines.join(''))
  expect(lines.join('').length).toBeGreaterThan(daemon.logBytes)
  const source = `const { log } = await import('${join(import.meta.dir, 'log.ts')}'); log('the last'); log('the very last')`
  const writer = Bun.spawn([process.execPath, '-e', source], { stdout: 'ignore', stderr: openSync(file, 'a') })
  expect(await writer.exited).toBe(0)
  const kept = readFileSync(file, 'utf8').split('\n')
  expect(kept.length).toBeGreaterThan(5_000)
  expect(kept.join('\n').length).toBeLessThan(daemon.logBytes)
  expect(lines).toContain(`${kept[0]}\n`)
  expect(kept.at(-4)).toBe(lines.at(-1)?.trimEnd())
  expect(kept.slice(-3)).toEqual([expect.stringMatching(/Z the last$/), expect.stringMatching(/Z the very last$/), ''])
})
