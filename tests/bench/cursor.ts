/**
 * `./dev bench cursor`: what an agent's cursor costs the processor, as a part of one core, the X server's share included:
 * while it glides without a pause, while it is seen and rests, and while it is hidden.
 */
import { readFileSync } from 'node:fs'
import { startDesktop } from '@backlot/headless'
import { TestDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { connect } from '../support/mcp-client.ts'

/** Ticks of a process so far, of which there are 100 a second (proc(5), utime and stime). */
const ticksOf = (pid: number): number => {
  const [, fields = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
  const numbers = fields.split(' ')
  return Number(numbers[11]) + Number(numbers[12])
}

await using desktop = await startDesktop({ size: { width: 1920, height: 1080 } })
const on = new TestDesktop(desktop)
await using client = await connect(on)
await client.ask('set_agent_cursor_motion', { glide_duration_ms: 5_000, idle_hide_ms: 0, cursor_label: 'bench' })
const status = JSON.parse((await on.run(driverCommand('status'))).stdout) as { pid: number }
const server = desktop.pids.x_server
const processes = { driver: status.pid, 'X server': server }

/** Percent of one core that each process took while `work` ran. */
const costOf = async (what: string, work: () => Promise<unknown>): Promise<void> => {
  const before = Object.values(processes).map(ticksOf)
  const start = performance.now()
  await work()
  const seconds = (performance.now() - start) / 1_000
  const percents = Object.values(processes).map((pid, index) => (ticksOf(pid) - (before[index] ?? 0)) / seconds)
  const parts = Object.keys(processes).map((name, index) => `${name} ${percents[index]?.toFixed(2)} %`)
  const sum = percents.reduce((a, b) => a + b, 0)
  console.log(`${what}: ${sum.toFixed(2)} % of one core (${parts.join(', ')}) over ${seconds.toFixed(1)} s`)
}

await client.ask('move_cursor', { x: 100, y: 100 })
await costOf('gliding', async () => {
  await client.ask('move_cursor', { x: 1_800, y: 1_000 })
  await client.ask('move_cursor', { x: 100, y: 900 })
  await client.ask('move_cursor', { x: 1_800, y: 100 })
})
await costOf('at rest', () => Bun.sleep(10_000))
await client.ask('set_agent_cursor_enabled', { enabled: false })
await costOf('hidden', () => Bun.sleep(10_000))
