import { expect, test } from 'bun:test'
import { withoutCapabilities } from './capabilities.ts'

const isRoot = process.getuid?.() === 0

/** The capabilities that a program has which is started so, as the kernel counts them. */
const rightsBehind = (words: readonly string[]): bigint => {
  const { stdout } = Bun.spawnSync([...words, 'cat', '/proc/self/status'])
  return BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(stdout.toString())?.[1]}`)
}

test.skipIf(!isRoot)('root leaves a hypervisor the files and ports that it needs', () => {
  const bits = (...numbers: number[]) => numbers.reduce((sum, number) => sum | (1n << BigInt(number)), 0n)
  // The numbers of linux/capability.h.
  expect(rightsBehind(withoutCapabilities(false))).toBe(bits(2, 10))
  expect(rightsBehind(withoutCapabilities(true))).toBe(bits(0, 1, 2, 3, 4, 10))
})

test('another user has nothing to give up', () => {
  expect(withoutCapabilities(true, false)).toEqual([])
})
