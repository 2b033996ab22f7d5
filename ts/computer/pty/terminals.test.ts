import { expect, test } from 'bun:test'
import type { StartProgram, TerminalProgram } from './program.ts'
import { Terminals } from './terminals.ts'

/** A program that runs until it is ended, and who ended it. */
function endless(): { readonly program: TerminalProgram; readonly ends: number[] } {
  const { promise: exited, resolve } = Promise.withResolvers<number>()
  const ends: number[] = []
  const end = async (): Promise<void> => {
    ends.push(ends.length)
    resolve(129)
  }
  return { program: { pid: 7, exited, write: () => undefined, resize: () => undefined, end }, ends }
}

test('a terminal that still starts when all end is ended too, and is waited for', async () => {
  const { promise: started, resolve: begin } = Promise.withResolvers<TerminalProgram>()
  const start: StartProgram = () => started
  const terminals = new Terminals(start)
  const created = terminals.create({ command: 'cat' })
  const ended = terminals[Symbol.asyncDispose]()
  const { program, ends } = endless()
  begin(program)
  await ended
  expect(ends).toHaveLength(1)
  expect(await (await created).exited).toBe(129)
})

test('a start that fails keeps nobody from ending the others', async () => {
  const terminals = new Terminals(() => Promise.reject(new Error('no such folder')))
  const created = terminals.create({}).catch((error: unknown) => String(error))
  await terminals[Symbol.asyncDispose]()
  expect(await created).toContain('no such folder')
})
