import { expect, test } from 'bun:test'
import { progressLine } from './progress.ts'

test('a step has a bar where its share is known', () => {
  expect(progressLine('copying')).toBe('copying …')
  expect(progressLine('copying', 0)).toBe(`copying ${'░'.repeat(24)} 0 %`)
  expect(progressLine('copying', 50.9)).toBe(`copying ${'█'.repeat(12)}${'░'.repeat(12)} 50 %`)
  expect(progressLine('copying', 130)).toBe(`copying ${'█'.repeat(24)} 100 %`)
})
