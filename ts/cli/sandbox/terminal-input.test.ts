import { expect, test } from 'bun:test'
import { terminalInput } from './terminal-input.ts'

/** A terminal that fails where it is told to, and keeps what arrives. */
const terminal = (fails: (data: string) => boolean) => {
  const arrived: string[] = []
  const take = async (data: string): Promise<void> => {
    // The first takes longest.
    await Bun.sleep(arrived.length === 0 ? 5 : 0)
    if (fails(data)) throw new Error('the connection was closed')
    arrived.push(data)
  }
  return { arrived, sendInput: take, resize: (cols: number, rows: number) => take(`${cols}x${rows}`) }
}

test('keys and sizes arrive in the order in which they came, and those that do not are told', async () => {
  const told: string[] = []
  const into = terminal((data) => data === 'b' || data === '9x9')
  const input = terminalInput(into, (line) => told.push(line))
  await Promise.all([input.type('a'), input.type('b'), input.resize(80, 24), input.resize(9, 9), input.type('c')])
  expect(into.arrived).toEqual(['a', '80x24', 'c'])
  expect(told).toEqual([
    'What was typed did not reach the shell: the connection was closed',
    'The new size did not reach the shell: the connection was closed',
  ])
})

test('nothing is told of what is sent after the shell has ended', async () => {
  const told: string[] = []
  const input = terminalInput(
    terminal(() => true),
    (line) => told.push(line),
  )
  const late = input.type('a')
  input.end()
  await late
  expect(told).toEqual([])
})
