import { expect, test } from 'bun:test'
import { totalmem } from 'node:os'
import { bootId, memoryBytes } from './machine.ts'

test('memory is told in bytes, and some of it is free', () => {
  expect(memoryBytes('MemTotal')).toBe(totalmem())
  expect(memoryBytes('MemAvailable')).toBeGreaterThan(0)
  expect(memoryBytes('MemAvailable')).toBeLessThan(memoryBytes('MemTotal'))
})

test('a start of the machine has one name', () => {
  expect(bootId()).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  expect(bootId()).toBe(bootId())
})
