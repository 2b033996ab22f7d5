import { expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGuestFile } from './guest-files.ts'

/** An agent of a guest that is this machine: a real one takes a boot. */
const fakeAgent = async (socketPath: string) => {
  const open: string[] = []
  type Given = { id: number; path: string; handle: number; 'buf-b64': string }
  const answers: Readonly<Record<string, (given: Given) => unknown>> = {
    'guest-sync-delimited': ({ id }) => id,
    'guest-file-open': ({ path }) => open.push(path) - 1,
    'guest-file-write': ({ handle, 'buf-b64': base64 }) =>
      void appendFileSync(open[handle] ?? '', Buffer.from(base64, 'base64')),
    'guest-file-close': () => undefined,
  }
  const server = createServer((socket) => {
    let text = ''
    socket.on('data', (part) => {
      const lines = (text + part.toString('latin1')).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const { execute, arguments: given } = JSON.parse(Buffer.from(line.replace(/^.*\xff/, ''), 'latin1').toString())
        const start = execute === 'guest-sync-delimited' ? '\xff' : ''
        socket.write(Buffer.from(`${start}${JSON.stringify({ return: answers[execute]?.(given) ?? {} })}\n`, 'latin1'))
      }
    })
  })
  await new Promise<void>((settle) => server.listen(socketPath, settle))
  return { [Symbol.dispose]: () => void server.close() }
}

test('a file is written under its very name, whatever shells make of such names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-files-'))
  try {
    const socket = join(folder, 'agent')
    using _agent = await fakeAgent(socket)
    const execute = async ({ command }: { readonly command: string }) => {
      const { stdout, stderr, exitCode } = Bun.spawnSync(['/bin/sh', '-c', command])
      const cut = { stdoutTruncated: false, stderrTruncated: false }
      return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode, ...cut }
    }
    const guest = { socket, patience: { until: 0, isGone: () => false }, execute }
    const content = async function* () {
      yield Buffer.from('new')
    }
    writeFileSync(join(folder, 'other'), 'old')
    const names = ['other ', 'other\n', String.raw`a\tb\\c\n`, "it's", 'deep/below/one']
    for (const name of names)
      await writeGuestFile(guest, join(folder, name), content(), { mode: 0o600, makesParents: true })
    expect(names.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(names.map(() => 'new'))
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('old')
    expect(readdirSync(folder).toSorted()).toEqual([...names.slice(0, 4), 'agent', 'deep', 'other'].toSorted())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
