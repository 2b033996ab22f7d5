import { describe, expect, test } from 'bun:test'
import type { Failure } from '@backlot/contract/failure'
import { choice } from '@backlot/contract/fields/choice'
import { Type } from '@sinclair/typebox'
import { pid, windowId } from './arguments.ts'
import { checkArguments, nearest } from './check.ts'
import { describeTool } from './describe.ts'
import { tools } from './registry.ts'
import { reads, tool } from './tool.ts'

const sample = tool({
  name: 'sample',
  title: 'Sample',
  description: 'Takes one argument of each kind.',
  arguments: Type.Object({
    pid,
    window_id: Type.Optional(windowId),
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 5 })),
    ratio: Type.Optional(Type.Number({ minimum: 0 })),
    loud: Type.Optional(Type.Boolean({ default: true })),
    mode: Type.Optional(choice(['som', 'ax'])),
    keys: Type.Optional(Type.Array(Type.String())),
  }),
  attributes: reads(),
  run: async () => ({ text: '', structured: {} }),
})

const refusal = (args: unknown): { code: string; message: string } => {
  try {
    checkArguments(sample, args)
  } catch (error) {
    const { code, message } = error as Failure
    return { code, message }
  }
  throw new Error('accepted')
}

describe('arguments', () => {
  test('get their declared defaults', () => {
    expect(checkArguments(sample, { pid: 5.0 })).toEqual({ pid: 5, loud: true })
  })

  test('may be absent as a whole, and null counts as absent', () => {
    expect(refusal(undefined).message).toBe('Missing required integer field: pid')
    expect(refusal(null).code).toBe('missing_argument')
    expect(refusal({ pid: null }).message).toBe('Missing required integer field: pid')
    expect(checkArguments(sample, { pid: 1, text: null })).toEqual({ pid: 1, loud: true })
  })

  test('that carry the caller are accepted everywhere and not handed on', () => {
    expect(checkArguments(sample, { pid: 1, session: 's', cursor_id: 'c', _meta: {} })).toEqual({ pid: 1, loud: true })
    expect(checkArguments(sample, JSON.parse('{"pid":1,"__proto__":{"text":"x"}}'))).toEqual({ pid: 1, loud: true })
  })

  test('of unknown names are refused with the nearest and all accepted ones', () => {
    expect(refusal({ pid: 1, windowid: 3 })).toEqual({
      code: 'unknown_argument',
      message:
        'Unknown argument "windowid" for sample. Did you mean "window_id"? Accepted: pid, window_id, text, ratio, loud, mode, keys.',
    })
    expect(refusal({ pid: 1, sesion: 's' }).message).toContain('Did you mean "session"?')
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      expect(refusal({ pid: 1, [name]: 1 }).code).toBe('unknown_argument')
    }
  })

  test.each([
    [[1], 'The arguments of "sample" must be a JSON object, not [1]. Pass {} for none.'],
    ['{}', 'The arguments of "sample" must be a JSON object, not "{}". Pass {} for none.'],
    [{ pid: '5' }, 'Argument "pid" must be an integer from 1 to 2147483647, not "5".'],
    [{ pid: 1.5 }, 'Argument "pid" must be an integer from 1 to 2147483647, not 1.5.'],
    [{ pid: Number.NaN }, 'Argument "pid" must be an integer from 1 to 2147483647, not NaN.'],
    [{ pid: 2 ** 60 }, 'Argument "pid" must be an integer from 1 to 2147483647, not 1152921504606847000.'],
    [{ pid: true }, 'Argument "pid" must be an integer from 1 to 2147483647, not true.'],
    [{ pid: 1, ratio: Number.POSITIVE_INFINITY }, 'Argument "ratio" must be a number of at least 0, not Infinity.'],
    [{ pid: 1, loud: 'yes' }, 'Argument "loud" must be true or false, not "yes".'],
    [{ pid: 1, text: '' }, 'Argument "text" must be a string of 1 to 5 characters, not "".'],
    [{ pid: 1, text: {} }, 'Argument "text" must be a string of 1 to 5 characters, not {}.'],
    [{ pid: 1, text: 'a\0b' }, 'Argument "text" holds a NUL character. Send it without.'],
    [{ pid: 1, text: 'a\ud800' }, 'Argument "text" holds half a surrogate pair. Send it without.'],
    [{ pid: 1, keys: ['a\0'] }, 'Argument "keys" holds a NUL character. Send it without.'],
    [{ pid: 1, keys: 'a' }, 'Argument "keys" must be an array, each a string, not "a".'],
    [{ pid: 1, keys: [1] }, 'Argument "keys" must be an array, each a string, not [1].'],
    [{ pid: 1, mode: 'SOM' }, 'Unknown mode: argument "mode" must be one of som, ax, not "SOM".'],
    [{ pid: 1, mode: ['som'] }, 'Argument "mode" must be one of som, ax, not ["som"].'],
  ])('%p is refused with what was asked for', (args, message) => {
    expect(refusal(args)).toEqual({ code: 'invalid_argument', message })
  })

  test('of any shape are taken or refused with a code, by every tool', () => {
    const values = [undefined, null, 0, -1, 1, 1.5, Number.NaN, 1e308, '', 'a', '\0', true, [], [[]], {}, ['a', 1]]
    for (const each of tools) {
      for (const name of [...Object.keys(each.arguments.properties), 'nonsense']) {
        for (const value of values) {
          try {
            checkArguments(each, { [name]: value })
          } catch (error) {
            expect(['missing_argument', 'unknown_argument', 'invalid_argument']).toContain((error as Failure).code)
          }
        }
      }
    }
  })
})

test('the nearest name is near', () => {
  expect(nearest('list_window', ['list_apps', 'list_windows'])).toBe('list_windows')
  expect(nearest('zzz', ['list_apps', 'list_windows'])).toBeUndefined()
})

test('the list of all tools, extensions too, fits in 20 KB', async () => {
  const { briefTools } = await import('./brief.ts')
  const listed = briefTools(tools.map((tool) => ({ tool, withheld: [] })))
  expect(Buffer.byteLength(JSON.stringify({ tools: listed }))).toBeLessThanOrEqual(20 * 1024)
  // All that can be called is there, by name and type; an argument is described where it first stands.
  for (const [index, { name, inputSchema }] of listed.entries()) {
    const whole = describeTool(tools[index] as (typeof tools)[number])
    expect([name, inputSchema.required]).toEqual([whole.name, whole.inputSchema.required])
    const types = (properties: object) =>
      Object.entries(properties).map(([key, { type, enum: choices }]) => [key, type, choices])
    expect(types(inputSchema.properties)).toEqual(types(whole.inputSchema.properties))
  }
  const said = new Map<string, string>()
  for (const [name, schema] of listed.flatMap((tool) => Object.entries(tool.inputSchema.properties))) {
    if (schema.description !== undefined) expect(said.get(name)).not.toBe(schema.description as string)
    if (!said.has(name)) said.set(name, schema.description as string)
  }
})
