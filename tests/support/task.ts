/** Long tasks: the same steps call by call or in packs, while a person types in another window. */
import { expect } from 'bun:test'
import { endApplication } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import type { McpClient } from './mcp-client.ts'
import { type Person, seatPerson } from './person.ts'

/** One call. */
export interface Step {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** How a task's steps are sent: `calls` one by one, `run_steps` up to 64 in a call. */
export type Manner = 'calls' | 'run_steps'

const packSize = 64

/** Sends the steps; every one must succeed. */
export const perform = async (client: McpClient, steps: readonly Step[], manner: Manner): Promise<void> => {
  if (manner === 'calls') {
    for (const step of steps) await client.ask(step.tool, { ...step.arguments })
    return
  }
  for (let from = 0; from < steps.length; from += packSize) {
    const pack = steps.slice(from, from + packSize)
    const { text, structured, isError } = await client.call('run_steps', { steps: pack })
    if (isError) throw new Error(text)
    expect(structured.completed).toBe(pack.length)
  }
}

/** A person who types without a pause until stopped; gives what must then stand in the person's field. */
const typingPerson = (on: TestDesktop, person: Person): { stop(): Promise<string> } => {
  const sentence = 'the quick brown fox jumps over the lazy dog '
  let stopped = false
  let typed = ''
  const typing = (async () => {
    while (!stopped) {
      const { status, stderr } = await on.run(['xdotool', 'type', '--delay', '30', sentence])
      if (status !== 0) throw new Error(`xdotool: ${stderr}`)
      typed += sentence
    }
  })()
  return {
    async stop() {
      stopped = true
      await typing
      await person.window.journal.waitFor(
        'all that the person typed',
        ({ type, value }) => type === 'changed' && String(value).length >= typed.length,
      )
      return typed
    },
  }
}

/** What stands in the person's field. */
const fieldOf = (person: Person): string =>
  String(person.window.journal.entries().findLast(({ type }) => type === 'changed')?.value ?? '')

/** Works while a person in the window in front types, and expects that every character of the person's arrived. */
export const meanwhile = async (on: TestDesktop, work: (person: Person) => Promise<void>): Promise<void> => {
  const person = await seatPerson(on, '1240x740+10+10')
  const typing = typingPerson(on, person)
  try {
    await work(person)
  } finally {
    const typed = await typing.stop()
    const shown = fieldOf(person)
    await endApplication(on, person.window)
    expect(shown).toBe(typed)
  }
}
