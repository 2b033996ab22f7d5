import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QemuGuest } from './guest.ts'
import { execInGuest } from './guest-exec.ts'

/** An agent whose command has ended with this status: a real one takes minutes to give so much, without KVM. */
const fakeAgent = async (path: string, status: object) => {
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
        const start = execute === 'guest-sync-delimited' ? '\xff' : ''
        const answer = answers[execute]?.(given)
        const said = answer === undefined ? { error: { desc: 'not known' } } : { return: answer }
        socket.write(Buffer.from(`${start}${JSON.stringify(said)}\n`, 'latin1'))
      }
    })
  })
  await new Promise<void>((settle) => server.listen(path, settle))
  return { [Symbol.dispose]: () => void server.close() }
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
      const patience = { until: Date.now() + 20_000, isGone: () => false }
      const whole = { stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false, exitCode: 0 }
      expect(await execInGuest(path, 'linux', { command: 'true' }, 20_000, patience)).toEqual({ ...whole, ...told })
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
      const place = { settings: { guestOs } }
      const startedAt = new Date().toISOString()
      const machine = { place, startedAt, ended: new Promise(() => undefined) } as never
      const limits = { timeoutMs: 20_000, signal: new AbortController().signal }
      const said = { stdout: '', stderr: '' }
      for await (const { stream, bytes } of await new QemuGuest(socket, machine).stream({ command: 'true' }, limits))
        said[stream] += Buffer.from(bytes).toString()
      expect([guestOs, said]).toEqual([guestOs, { stdout: 'xx', stderr: expect.stringContaining('dropped the rest') }])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
