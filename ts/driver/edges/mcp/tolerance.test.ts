import { expect, test } from 'bun:test'
import { readLine } from './tolerance.ts'

const read = (text: string) => readLine({ text })
const code = (text: string) => read(text).map((item) => (item && 'refusal' in item ? item.refusal : item))

test('an initialize without params gets what is missing', () => {
  const filled = { protocolVersion: 'unknown', capabilities: {}, clientInfo: { name: 'unknown', version: '0' } }
  for (const params of ['', ',"params":{}', ',"params":null', ',"params":{"clientInfo":{}}']) {
    expect(read(`{"jsonrpc":"2.0","id":1,"method":"initialize"${params}}`)).toEqual([
      { message: { jsonrpc: '2.0', id: 1, method: 'initialize', params: filled } },
    ])
  }
})

test('what a client does send of initialize is kept', () => {
  const params = { protocolVersion: '2024-11-05', capabilities: { roots: {} }, clientInfo: { name: 'a', version: '1' } }
  expect(read(JSON.stringify({ id: 'x', method: 'initialize', params }))).toEqual([
    { message: { jsonrpc: '2.0', id: 'x', method: 'initialize', params } },
  ])
})

test('garbage is a parse error with id null, and an empty line is nothing', () => {
  expect(code('{oops')).toMatchObject([{ id: null, error: { code: -32700 } }])
  expect(readLine({ problem: 'not_utf8' })).toMatchObject([{ refusal: { id: null, error: { code: -32700 } } }])
  expect(read('  ')).toEqual([])
})

test('JSON that is no request is refused, with its id where it has one', () => {
  expect(code('42')).toMatchObject([{ id: null, error: { code: -32600 } }])
  expect(code('[]')).toMatchObject([{ id: null, error: { code: -32600 } }])
  expect(code('{"id":3}')).toMatchObject([{ id: 3, error: { code: -32600 } }])
  expect(code('{"id":{},"method":"ping"}')).toMatchObject([{ id: null, error: { code: -32600 } }])
  expect(code('{"id":1,"result":{}}')).toEqual([undefined])
})

test('each message of a batch is read', () => {
  expect(read('[{"id":1,"method":"ping"},{"method":"notifications/initialized"}]')).toEqual([
    { message: { jsonrpc: '2.0', id: 1, method: 'ping' } },
    { message: { jsonrpc: '2.0', method: 'notifications/initialized' } },
  ])
})

test('a tool call whose arguments are null has none', () => {
  expect(read('{"id":1,"method":"tools/call","params":{"name":"list_apps","arguments":null}}')).toEqual([
    { message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_apps', arguments: {} } } },
  ])
})

test('a tool call without a name, or with arguments that are no object, says what is wrong', () => {
  const wrong: [string, string][] = [
    ['{"id":1,"method":"tools/call"}', 'name of a tool'],
    ['{"id":1,"method":"tools/call","params":{"name":5}}', 'name of a tool'],
    ['{"id":1,"method":"tools/call","params":{"name":"click","arguments":[1]}}', 'are an object'],
  ]
  for (const [line, words] of wrong) {
    expect(code(line)).toMatchObject([{ id: 1, error: { code: -32602, message: expect.stringContaining(words) } }])
  }
})
