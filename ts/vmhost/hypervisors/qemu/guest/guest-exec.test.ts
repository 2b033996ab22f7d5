import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { until } from '../../../../../tests/support/until.ts'
import { QemuGuest } from './guest.ts'

/**
 * An agent whose commands have ended with this status, or do not end: a real one takes minutes to give so much, without KVM.
 * `loses`: it hangs up where it is asked that. What it was to run is in `ran`.
 */
const fakeAgent = async (path: string, status: object, loses?: string) => {
  const ran: string[] = []
  const answers: Readonly<Record<string, (given: { id: number }) => unknown>> = {
    'guest-sync-delimited': ({ id }) => id,
    'guest-exec': () => ({ pid: 7 }),
    'guest-exec-status': () => ({ exited: true, exitcode: 0, ...status }),
  }
  const server = createServer((socket) => {
    let text = ''
    socket.on('data', (part) => {
      const lines = (text + part.toString('latin1')).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const { execute, arguments: given } = JSON.parse(line.replace(/^.*\xff/, ''))
        if (execute === 'guest-exec') ran.push(given.arg.at(-1))
        if (execute === loses) return void socket.destroy()
        const start = execute === 'guest-sync-delimited' ? '\xff' : ''
        const answer = answers[execute]?.(given)
        const said = answer === undefined ? { error: { desc: 'not known' } } : { return: answer }
        socket.write(Buffer.from(`${start}${JSON.stringify(said)}\n`, 'latin1'))
      }
    })
  })
  await new Promise<void>((settle) => server.listen(path, settle))
  return { ran, [Symbol.dispose]: () => void server.close() }
}

/** A guest of that system behind the port of an agent. */
const guestAt = (socket: string, guestOs: string): QemuGuest => {
  const startedAt = new Date().toISOString()
  return new QemuGuest(socket, {
    place: { settings: { guestOs } },
    startedAt,
    ended: new Promise(() => undefined),
  } as never)
}

test('an output of which the agent dropped the rest is told from a whole one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-exec-'))
  try {
    for (const [stream, data, told] of [
      ['out', { 'out-data': 'eHg=', 'out-truncated': true }, { stdout: 'xx', stdoutTruncated: true }],
      ['err', { 'err-data': 'eHg=', 'err-truncated': true }, { stderr: 'xx', stderrTruncated: true }],
      ['none', { 'out-data': 'eHg=' }, { stdout: 'xx' }],
    ] as const) {
      const path = join(folder, stream)
      using _agent = await fakeAgent(path, data)
      const whole = { stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false, exitCode: 0 }
      expect(await guestAt(path, 'linux').execute({ command: 'true' }, 20_000)).toEqual({ ...whole, ...told })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a streamed output of which the agent dropped the rest says so at its end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-exec-'))
  try {
    // Neither gives files: this guest has no room for them, and the other no Linux.
    for (const guestOs of ['linux', 'windows']) {
      const socket = join(folder, guestOs)
      using _agent = await fakeAgent(socket, { 'out-data': 'eHg=', 'out-truncated': true })
      const limits = { timeoutMs: 20_000, signal: new AbortController().signal }
      const said = { stdout: '', stderr: '' }
      for await (const { stream, bytes } of await guestAt(socket, guestOs).stream({ command: 'true' }, limits))
        said[stream] += Buffer.from(bytes).toString()
      expect([guestOs, said]).toEqual([guestOs, { stdout: 'xx', stderr: expect.stringContaining('dropped the rest') }])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a command is ended when its caller goes away, and of one who has gone none begins', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-exec-'))
  try {
    const socket = join(folder, 'windows')
    using agent = await fakeAgent(socket, { exited: false })
    const caller = new AbortController()
    const limits = { timeoutMs: 3_600_000, signal: caller.signal }
    const output = await guestAt(socket, 'windows').stream({ command: 'pause' }, limits)
    const asked = [
      output.next(),
      guestAt(socket, 'windows').execute({ command: 'more' }, 3_600_000, caller.signal),
    ] as const
    await until('both to have begun', () => agent.ran.length === 2)
    caller.abort(new Error('gone'))
    // Whether that was carried out is looked at for seconds, in which this agent says that nothing has ended.
    for (const each of asked) each.catch(() => undefined)
    await until('both to be ended', () => agent.ran.length > 3)
    const end = 'taskkill /F /T /PID 7'
    expect(agent.ran).toEqual(['pause', 'more', end, end])
    const late = guestAt(socket, 'windows').execute({ command: 'late' }, 3_600_000, caller.signal)
    expect(await late.catch(String)).toContain('gone')
    expect(agent.ran).not.toContain('late')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a command that the agent took and did not answer may have begun, and one that nobody took has not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-exec-'))
  try {
    for (const guestOs of ['linux', 'windows'])
      for (const [loses, hasBegun] of [
        ['guest-exec', true],
        ['guest-sync-delimited', undefined],
      ] as const) {
        const socket = join(folder, `${guestOs}-${loses}`)
        using _agent = await fakeAgent(socket, {}, loses)
        const asked = guestAt(socket, guestOs).stream({ command: 'true' }, { timeoutMs: 0 })
        const { code, data } = Failure.from(await asked.catch((error) => error))
        expect([guestOs, loses, code, data.hasBegun]).toEqual([guestOs, loses, 'agent_unavailable', hasBegun])
      }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
