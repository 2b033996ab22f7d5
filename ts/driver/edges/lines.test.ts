import { expect, test } from 'bun:test'
import { type Line, LineReader } from './lines.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

const read = (limit: number, ...chunks: Uint8Array[]): Line[] => {
  const lines: Line[] = []
  const reader = new LineReader(limit, (line) => lines.push(line))
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return lines
}

test('lines are cut wherever the chunks end', () => {
  expect(read(100, bytes('o'), bytes('ne\ntw'), bytes('o\r\n\nthree'))).toEqual([
    { text: 'one' },
    { text: 'two' },
    { text: '' },
    { text: 'three' },
  ])
})

test('a character that is split between chunks stays whole', () => {
  const euro = bytes('€\n')
  expect(read(100, euro.slice(0, 1), euro.slice(1))).toEqual([{ text: '€' }])
})

test('a line over the limit is told once, and the next one is read', () => {
  expect(read(4, bytes('12345'), bytes('678'), bytes('9\nok\n'), bytes('12345\n1234\n'))).toEqual([
    { problem: 'too_long' },
    { text: 'ok' },
    { problem: 'too_long' },
    { text: '1234' },
  ])
})

test('bytes that are no UTF-8 are told, and the next line is read', () => {
  expect(read(100, new Uint8Array([0xff, 0xfe, 10]), bytes('ok\n'))).toEqual([{ problem: 'not_utf8' }, { text: 'ok' }])
})

test('a chunk that its owner reuses does not change what is held', () => {
  const lines: Line[] = []
  const reader = new LineReader(100, (line) => lines.push(line))
  const chunk = bytes('abc')
  reader.push(chunk)
  chunk.fill(120)
  reader.push(bytes('\n'))
  expect(lines).toEqual([{ text: 'abc' }])
})
