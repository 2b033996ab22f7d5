import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { choice } from './choice.ts'
import { fieldFault, fromText } from './field.ts'

const count = Type.Integer({ minimum: 1, maximum: 255, description: 'Number of cores.' })

test('a number out of its range is told the range, and what is no number the type', () => {
  expect(fieldFault('cpu', count, 0)).toBe('"cpu" cannot be 0; it is from 1 to 255. Number of cores.')
  expect(fieldFault('cpu', count, fromText(count, 'abc'))).toBe('"cpu" must be integer, not "abc". Number of cores.')
  expect(fieldFault('cpu', count, 1.5)).toBe('"cpu" must be integer, not 1.5. Number of cores.')
  expect(fieldFault('lines', Type.Integer({ minimum: 0 }), -1)).toBe('"lines" cannot be -1; it is 0 at least.')
  expect(fieldFault('cpu', count, fromText(count, '4'))).toBeUndefined()
})

test('a word that is none of a few is told those, and a long text is shown in part', () => {
  const system = choice(['macOS', 'linux'])
  expect(fieldFault('os', system, 'windows')).toBe('"os" cannot be "windows"; it is macOS or linux.')
  const name = Type.String({ maxLength: 100 })
  expect(fieldFault('name', name, 'a'.repeat(200))).toBe(`"name" cannot be "${'a'.repeat(55)}…".`)
})

test('a text that only begins with a whole number is none', () => {
  const fault = (text: string) => fieldFault('cpu', count, fromText(count, text))
  expect(fault('1.5')).toBe('"cpu" must be integer, not 1.5. Number of cores.')
  for (const text of ['1e3', '0x10', '1,5', '', ' ']) {
    expect(fault(text)).toBe(`"cpu" must be integer, not ${JSON.stringify(text)}. Number of cores.`)
  }
  for (const text of ['12', ' 12', '+12', '12.0']) expect(fromText(count, text)).toBe(12)
})
