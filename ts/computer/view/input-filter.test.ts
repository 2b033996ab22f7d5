import { expect, test } from 'bun:test'
import { InputFilter } from './input-filter.ts'

const opening = [...Buffer.from('RFB 003.008\n'), 1, 1]
const key = [4, 1, 0, 0, 0, 0, 0, 97]
const pointer = [5, 1, 0, 10, 0, 20]
const request = [3, 1, 0, 0, 0, 0, 5, 0, 3, 32]
const encodings = [2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 16]
const cutText = [6, 0, 0, 0, 0, 0, 0, 2, 104, 105]
// The extended form of a length of 4: its flags are the action `notify` and the format `text`.
const longCutText = [6, 0, 0, 0, 255, 255, 255, 252, 8, 0, 0, 1]
// The actions that a viewer knows, `caps` among them, and how much text it wants unasked.
const forms = [6, 0, 0, 0, 255, 255, 255, 248, 31, 0, 0, 1, 0, 0, 0, 0]
const size = [251, 0, 4, 0, 3, 0, 1, 0, ...Array.from({ length: 16 }, () => 7)]

const passed = (filter: InputFilter, bytes: readonly number[]) => [...filter.pass(new Uint8Array(bytes))]

test('what looks passes and what acts does not, in one piece or byte by byte', () => {
  const sent = [
    ...opening,
    ...encodings,
    ...key,
    ...request,
    ...pointer,
    ...cutText,
    ...longCutText,
    ...forms,
    ...size,
    ...request,
  ]
  const expected = [...opening, ...encodings, ...request, ...forms, ...request]
  expect(passed(new InputFilter(() => false), sent)).toEqual(expected)
  const slow = new InputFilter(() => false)
  expect(sent.flatMap((byte) => passed(slow, [byte]))).toEqual(expected)
})

test('a viewer that may act says all that it says', () => {
  let mayAct = true
  const filter = new InputFilter(() => mayAct)
  expect(passed(filter, [...opening, ...key, ...pointer])).toEqual([...opening, ...key, ...pointer])
  mayAct = false
  expect(passed(filter, [...pointer, ...request])).toEqual(request)
})

test('a message of a kind that is not known ends the viewer', () => {
  const filter = new InputFilter(() => true)
  filter.pass(new Uint8Array(opening))
  expect(() => filter.pass(new Uint8Array([99, 0, 0]))).toThrow(RangeError)
})
