import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QemuService } from './service.ts'

test('a folder for the socket that others can write to is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'qemu-service-'))
  const before = process.env.BACKLOT_HOME
  // Longer than a socket's path may be.
  const home = join(folder, 'x'.repeat(100))
  const hash = createHash('sha256').update(`${home}/runtime/qemu.sock`).digest('hex').slice(0, 16)
  const short = `/tmp/backlot-${hash}`
  process.env.BACKLOT_HOME = home
  try {
    mkdirSync(short)
    chmodSync(short, 0o777)
    const refused = await new QemuService(undefined)
      .host(new AbortController().signal)
      .catch((error: { code?: unknown; message?: unknown }) => [error.code, error.message])
    expect(refused).toEqual(['runtime_unavailable', `"${short}" is no folder of this user alone; remove it.`])
  } finally {
    if (before === undefined) delete process.env.BACKLOT_HOME
    else process.env.BACKLOT_HOME = before
    rmSync(short, { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  }
})
