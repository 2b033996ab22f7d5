import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection } from './adb/connection.ts'
import { packet } from './adb/shell-packets.ts'
import { begun } from './shell.ts'

const packetOf = (id: number, text: string): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt8(id)
  head.writeUInt32LE(Buffer.byteLength(text), 1)
  return Buffer.concat([head, Buffer.from(text)])
}

/** What is read of a shell that sends these packets. */
const readOf = async (...packets: readonly Buffer[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-adb-'))
  const path = join(folder, 'socket')
  const server = createServer((socket) => socket.end(Buffer.concat(packets)))
  await new Promise<void>((settle) => server.listen(path, settle))
  try {
    using connection = await Connection.open({ path })
    const { pid, stdout, stderr } = await begun(connection)
    return { pid, stdout: stdout.toString(), stderr: stderr.toString() }
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

test('what a command writes at once comes with the line of its shell, and is kept', async () => {
  expect(await readOf(packetOf(packet.stdout, '12'), packetOf(packet.stdout, '3\n'))).toEqual({
    pid: 123,
    stdout: '',
    stderr: '',
  })
  expect(await readOf(packetOf(packet.stderr, 'err\n'), packetOf(packet.stdout, '123\nout\n'))).toEqual({
    pid: 123,
    stdout: 'out\n',
    stderr: 'err\n',
  })
})

test('a device that starts no shell is told', async () => {
  expect(readOf(packetOf(packet.exit, '\x01'))).rejects.toMatchObject({ code: 'device_failed' })
})
