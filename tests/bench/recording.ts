/**
 * `./dev bench recording [--film]`: what an action costs its caller while it is recorded, with `--film` filmed too,
 * beside the same action of another client that is not, in turn and in the same run.
 */
import { rmSync } from 'node:fs'
import { startGtk3 } from '../support/applications.ts'
import { driverCommand } from '../support/driver.ts'
import { element, middleOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { onDesktop } from './driver/bench-desktop.ts'
import { milliseconds } from './driver/measure.ts'

const rounds = 60
const record_video = process.argv.includes('--film')

/** Milliseconds that may pass until what a recorded call left behind is written. */
const writtenMs = 60

const middle = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

await onDesktop(import.meta.path, async (on) => {
  const app = await startGtk3(on, 'controls', { geometry: '1200x800+100+100' })
  const target = { pid: app.pid, window_id: app.windowId }
  await using bare = await connect(on)
  await using recorded = await connect(on)
  const folder = on.path('recorded')
  const { x, y } = await middleOf(bare, target, 'Check me')
  const { element_index } = await element(bare, target, 'Check me', 'check box')
  await recorded.ask('start_recording', { output_dir: folder, record_video })
  const actions: Readonly<Record<string, (client: McpClient) => Promise<unknown>>> = {
    'click on an element': (client) => client.ask('click', { ...target, element_index }),
    'click at a point': (client) => client.ask('click', { ...target, x, y }),
  }
  for (const [name, act] of Object.entries(actions)) {
    const [without, with_]: [number[], number[]] = [[], []]
    for (const client of [bare, recorded]) await act(client)
    for (let round = 0; round < rounds; round += 1) {
      // The order changes, so that neither always follows the other.
      const order = [
        [bare, without],
        [recorded, with_],
      ] as const
      for (const [client, times] of round % 2 === 0 ? order : order.toReversed()) {
        await Bun.sleep(writtenMs)
        times.push(await milliseconds(() => act(client)))
      }
    }
    const [a, b] = [middle(without), middle(with_)]
    console.log(
      `${name}: ${a.toFixed(1)} ms, recorded ${b.toFixed(1)} ms: ${(b - a).toFixed(1)} ms longer (aim: at most 5)`,
    )
  }
  await recorded.ask('stop_recording')
  rmSync(folder, { recursive: true })
  await on.run(driverCommand('stop'))
})
