import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { choice } from './choice.ts'

const schema = Type.Object({ kind: Type.Optional(choice(['info', 'error', 'all'], { default: 'all' })) })

test('a choice prints as a plain enum', () => {
  expect(JSON.parse(JSON.stringify(schema.properties.kind))).toEqual({
    type: 'string',
    enum: ['info', 'error', 'all'],
    default: 'all',
  })
})

test('a choice takes its values and no others', () => {
  expect(['info', 'error', 'all'].every((kind) => Value.Check(schema, { kind }))).toBe(true)
  for (const kind of ['', 'INFO', 'infos', 7, null, ['info']]) expect(Value.Check(schema, { kind })).toBe(false)
})

test('a choice that is left out stays so until defaults are asked for', () => {
  expect(Value.Check(schema, {})).toBe(true)
  expect(Value.Default(schema, {})).toEqual({ kind: 'all' })
})
