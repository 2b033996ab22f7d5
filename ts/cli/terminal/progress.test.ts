import { expect, spyOn, test } from 'bun:test'
import { progressLine, startProgress } from './progress.ts'

test('a step has a bar where its share is known', () => {
  expect(progressLine('copying')).toBe('copying …')
  expect(progressLine('copying', 0)).toBe(`copying ${'░'.repeat(24)} 0 %`)
  expect(progressLine('copying', 50.9)).toBe(`copying ${'█'.repeat(12)}${'░'.repeat(12)} 50 %`)
  expect(progressLine('copying', 130)).toBe(`copying ${'█'.repeat(24)} 100 %`)
})

test('what is told meanwhile stands on a line of its own', () => {
  const written: string[] = []
  const keep = (text: unknown) => written.push(String(text)) > 0
  using _ = spyOn(process.stderr, 'write').mockImplementation(keep)
  using told = spyOn(console, 'error').mockImplementation((text) => keep(`${text}\n`))
  {
    using progress = startProgress(true)
    progress.show('starting')
    console.error('a note')
  }
  expect(written.join('')).toBe('\r\u001b[Kstarting …\r\u001b[Ka note\n\r\u001b[Kstarting …\r\u001b[K')
  expect(console.error).toBe(told)
})
