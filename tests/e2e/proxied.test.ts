import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Application } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, listedWindow } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { startProxy, startSandboxed } from '../support/sandboxed.ts'
import { until } from '../support/until.ts'

// The bus knows the process of the proxy alone. Each program is number 1 in a PID namespace of its own, and its
// own socket has the same path as that of any other.
const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const state = ({ pid, windowId }: Application) =>
  client.call('get_window_state', { pid, window_id: windowId, capture_mode: 'ax' })

/** Presses a button of each program and expects that each hears of its own press, and of no other. */
const operateEach = async (programs: readonly Application[]): Promise<void> => {
  for (const program of programs) {
    expect(await listedWindow(client, program.windowId)).toMatchObject({ pid: program.pid, title: program.title })
    const target = { pid: program.pid, window_id: program.windowId }
    const { element_token } = await until('its button', () => element(client, target, 'Press me').catch(() => null))
    const marks = programs.map(({ journal }) => journal.mark())
    expect(await client.ask('click', { ...target, element_token })).toMatchObject({ route: 'accessibility' })
    await program.journal.waitFor('the press', ({ type }) => type === 'clicked', marks[programs.indexOf(program)])
    const others = programs.filter((each) => each !== program)
    for (const other of others) {
      const heard = other.journal.entries(marks[programs.indexOf(other)])
      expect(heard.filter(({ type }) => type === 'clicked')).toEqual([])
    }
  }
}

describe('behind a proxy of the accessibility bus', () => {
  test('two programs with one proxy are each read and operated as themselves', async () => {
    const proxy = await startProxy(on())
    const programs = [
      await startSandboxed(on(), 'gtk3', proxy, 'Sandbox one'),
      await startSandboxed(on(), 'gtk3', proxy, 'Sandbox two'),
    ]
    await operateEach(programs)
    const [one] = programs as [Application]
    process.kill(one.pid, 'SIGKILL')
    await until('the first to be gone', async () => (await state(one)).isError)
    await operateEach(programs.slice(1))
  })

  test('a program with a proxy of its own needs no socket to be known by', async () => {
    const programs = [
      await startSandboxed(on(), 'gtk4', await startProxy(on()), 'Alone one'),
      await startSandboxed(on(), 'gtk4', await startProxy(on()), 'Alone two'),
    ]
    await operateEach(programs)
  })

  test('two programs of one title are not mixed up', async () => {
    const programs = [
      await startSandboxed(on(), 'gtk3', await startProxy(on()), 'Same'),
      await startSandboxed(on(), 'gtk4', await startProxy(on()), 'Same'),
      await startSandboxed(on(), 'gtk4', await startProxy(on()), 'Same'),
    ]
    await operateEach(programs)
  }, 60_000)

  test('programs that nothing tells apart, not even a title, are not taken for one another', async () => {
    const proxy = await startProxy(on())
    const programs = [
      await startSandboxed(on(), 'gtk4', proxy, 'Alike'),
      await startSandboxed(on(), 'gtk4', proxy, 'Alike'),
    ]
    for (const program of programs) {
      expect(await listedWindow(client, program.windowId)).toMatchObject({ pid: program.pid, title: program.title })
      expect((await state(program)).structured).toMatchObject({ code: 'not_accessible' })
    }
    // Who is left alone with the proxy is known.
    const [one, two] = programs as [Application, Application]
    process.kill(one.pid, 'SIGKILL')
    await operateEach([two])
  })
})
