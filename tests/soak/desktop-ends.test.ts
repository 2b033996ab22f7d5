/** Private desktops that end at random moments, however they were opened and whatever runs on them. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { EndedDesktops, endedDesktop, ends, openers, programNames, type Round } from '../support/ended-desktop.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(600_000))

const count = rounds(200)

/** How many desktops there are at once. */
const lanes = 4

/** The rounds, each combination equally often; every other one ends while the desktop starts. */
const plan = (readyMs: number): Round[] =>
  Array.from({ length: count }, (_, number) => {
    const isUsed = Math.floor(number / (openers.length * programNames.length * ends.length)) % 2 === 0
    return {
      number,
      opener: openers[number % openers.length] ?? 'shell',
      end: ends[Math.floor(number / openers.length) % ends.length] ?? 'SIGKILL',
      program: programNames[Math.floor(number / (openers.length * ends.length)) % programNames.length] ?? 'runaway',
      isUsed,
      afterMs: Math.random() * (isUsed ? 2_000 : 1.5 * readyMs),
    }
  })

test(`nothing is left of private desktops that end at random moments, ${count} times`, async () => {
  using all = new EndedDesktops()
  const begun = performance.now()
  const first = {
    number: count,
    opener: 'library',
    program: 'runaway',
    end: 'clean',
    afterMs: 0,
    isUsed: true,
  } as const
  expect(await endedDesktop(all, first)).toEqual([])
  const planned = plan(performance.now() - begun)
  const wrong: unknown[] = []
  for (let at = 0; at < planned.length; at += lanes) {
    const together = planned.slice(at, at + lanes)
    const left = await Promise.all(together.map((round) => endedDesktop(all, round)))
    for (const [index, found] of left.entries()) if (found.length > 0) wrong.push([together[index], found])
    const ofAll = all.left()
    if (ofAll.length > 0) wrong.push([together, ofAll])
  }
  expect(wrong).toEqual([])
})
