import { expect, test } from 'bun:test'
import { terminalInput } from './terminal-input.ts'

/** A terminal that takes nothing before it is told to go on, fails where it is to, and keeps what arrives. */
const terminal = (fails: (data: string) => boolean) => {
  const arrived: string[] = []
  const first = Promise.withResolvers<void>()
  const take = async (data: string): Promise<void> => {
    await first.promise
    if (fails(data)) throw new Error('the connection was closed')
    arrived.push(data)
  }
  return {
    arrived,
    goOn: first.resolve,
    sendInput: take,
    resize: (cols: number, rows: number) => take(`${cols}x${rows}`),
  }
}

test('keys and sizes arrive in the order in which they came, and those that do not are told', async () => {
  const told: string[] = []
  const into = terminal((data) => data === 'b' || data === '9x9')
  const input = terminalInput(into, (line) => told.push(line))
  const sent = [input.type('a'), input.type('b'), input.resize(80, 24), input.resize(9, 9), input.type('c')]
  into.goOn()
  await Promise.all(sent)
  expect(into.arrived).toEqual(['a', '80x24', 'c'])
  expect(told).toEqual([
    'What was typed did not reach the shell: the connection was closed',
    'The new size did not reach the shell: the connection was closed',
  ])
})

test('nothing is told of what is sent after the shell has ended', async () => {
  const told: string[] = []
  const into = terminal(() => true)
  const input = terminalInput(into, (line) => told.push(line))
  const late = input.type('a')
  input.end()
  into.goOn()
  await late
  expect(told).toEqual([])
})
