import { describe, expect, test } from 'bun:test'
import { bytesOf, sizeOf, sizePattern } from './size.ts'

const sizes: readonly (readonly [string, number])[] = [
  ['8GB', 8 * 2 ** 30],
  ['8.0GB', 8 * 2 ** 30],
  ['8 gb', 8 * 2 ** 30],
  ['8', 8 * 2 ** 30],
  ['0.5', 2 ** 29],
  ['512MB', 512 * 2 ** 20],
  ['1.5kb', 1536],
  ['1.0001kb', 1024],
  ['3Tb', 3 * 2 ** 40],
  ['7B', 7],
]

describe('bytesOf', () => {
  test('takes a number and a unit in any case, with the factor 1024', () => {
    expect(sizes.map(([text]) => [text, bytesOf(text, 'memory')])).toEqual(sizes as never)
    expect(sizes.filter(([text]) => !new RegExp(sizePattern).test(text))).toEqual([])
  })

  test('refuses everything else by the name of its field', () => {
    for (const text of ['', 'GB', '-1GB', '8PB', '8GiB', '1e3GB', 'lots', '8GB!', '99999999999999TB', '0x8GB']) {
      expect(() => bytesOf(text, 'memory')).toThrow(
        expect.objectContaining({ code: 'invalid_argument', data: { argument: 'memory' } }),
      )
    }
  })
})

test('sizeOf writes what bytesOf reads', () => {
  expect([0, 1, 1024, 1536, 8 * 2 ** 30, 2 ** 40].map(sizeOf)).toEqual(['0B', '1B', '1KB', '1536B', '8GB', '1TB'])
  for (const [, bytes] of sizes) expect(bytesOf(sizeOf(bytes), 'x')).toBe(bytes)
})
