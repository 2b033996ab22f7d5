/** What sandboxes of the runtime `container` take, on an engine of the bench's own, where this machine can have one. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerTimes } from './container-program.ts'

const root = join(import.meta.dir, '../../..')

/** Times of `rounds` sandboxes, each in milliseconds; the reason where there can be no engine. */
export const containerTimes = async (rounds: number): Promise<ContainerTimes | string> => {
  if (process.getuid?.() !== 0) return 'an engine of its own needs root'
  // The engine's programs are fetched once.
  const kept = join(root, 'target/clients')
  mkdirSync(kept, { recursive: true })
  const apart = [join(root, 'tests/support/apart'), '--host-network', kept]
  const command = [...apart, process.execPath, join(import.meta.dir, 'container-engine.ts'), String(rounds)]
  const child = Bun.spawn(command, { cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  const [out, status] = await Promise.all([child.stdout.text(), child.exited])
  if (status !== 0) throw new Error(`the bench of containers ended with ${status}`)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '')
}
