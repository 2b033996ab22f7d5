/** Long files and many terminals through one computer server, whose memory stays as it is. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startComputer } from '../support/computer.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(300_000))

const mebibyte = 2 ** 20

/** Resident bytes of a process (proc(5), status). */
const resident = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

test('a gibibyte goes in and out whole, while the memory stays flat', async () => {
  await using computer = await startComputer(['--port', '0'])
  const url = `${computer.url}/files?path=${join(computer.home, 'long')}`
  const part = crypto.getRandomValues(new Uint8Array(65_536))
  const parts = rounds(1024) * 16
  const bytes = (at: number): Uint8Array => {
    const piece = part.slice()
    new DataView(piece.buffer).setUint32(0, at)
    return piece
  }
  const sent = new Bun.CryptoHasher('sha256')
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at === parts) {
        controller.close()
        return
      }
      const piece = bytes(at++)
      sent.update(piece)
      controller.enqueue(piece)
    },
  })
  await computer.ask('version')
  const before = resident(computer.pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, resident(computer.pid))
  }, 20)
  expect((await fetch(url, { method: 'PUT', body })).status).toBe(200)
  const got = new Bun.CryptoHasher('sha256')
  for await (const piece of (await fetch(url)).body ?? []) got.update(piece)
  clearInterval(watch)
  expect(got.digest('hex')).toBe(sent.digest('hex'))
  console.info(`memory: ${Math.round(before / mebibyte)} MiB before, ${Math.round(most / mebibyte)} MiB at most`)
  expect(most - before).toBeLessThan(200 * mebibyte)
})

test('hundreds of terminals and commands leave no process', async () => {
  await using computer = await startComputer(['--port', '0'])
  const mark = `sleep 6${process.pid}`
  for (let round = 0; round < rounds(30); round++) {
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        if (index % 2 === 0) {
          const answer = await computer.send('run_command', { command: `(setsid ${mark} &); ${mark}`, timeout: 0.2 })
          expect(answer.code).toBe('command_timed_out')
          return
        }
        const { pid } = (await (
          await fetch(`${computer.url}/pty`, { method: 'POST', body: JSON.stringify({ command: `${mark} & ${mark}` }) })
        ).json()) as { pid: number }
        await fetch(`${computer.url}/pty/${pid}`, { method: 'DELETE' })
      }),
    )
  }
  await until('no process to be left', () => Bun.spawnSync(['pgrep', '-f', `[s]${mark.slice(1)}`]).exitCode === 1)
})
