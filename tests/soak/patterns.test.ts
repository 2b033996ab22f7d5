/** Films of random changes in random sizes, up to 3840x2160 and odd ones: each picture is decoded as the encoder says. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { limitMs, rounds } from '../support/soak.ts'
import { testBinary } from '../support/test-binaries.ts'

setDefaultTimeout(limitMs(1_800_000))

const films = rounds(200)

test(`${films} films of random changes decode bit by bit`, async () => {
  const first = Math.floor(Math.random() * 2 ** 31)
  const name = 'patterns::random_changes_of_random_sizes_decode'
  const child = Bun.spawn([testBinary('video', 'test'), '--exact', name, '--nocapture'], {
    env: { ...process.env, PATTERNS: String(films), PATTERNS_FROM: String(first) },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const [said, status] = await Promise.all([child.stdout.text(), child.exited])
  const lines = said.split('\n')
  // The seeds before the one that failed are of no use.
  if (status !== 0) console.log(lines.slice(-30).join('\n'))
  expect(status).toBe(0)
  expect(lines.filter((line) => line.startsWith('seed '))).toHaveLength(films)
  const told = lines.find((line) => line.includes('decoded as they should'))
  expect(told).toStartWith(`${films} films`)
  console.log(told)
})
