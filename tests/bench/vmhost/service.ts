/** What the service itself costs, beside an Elysia server that does nothing: a list, memory, the start. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand } from '../../support/backlot.ts'
import { exactly, milliseconds, type Row, sideBySide } from '../driver/measure.ts'
import { compiledEmpty, Service } from './server-process.ts'

const vms = 200
const listings = 1_000

/** A list of 200 VMs, memory with them, and the time from the start to the first answer. */
export const serviceRows = async (): Promise<Row[]> => {
  const home = await mkdtemp(join(tmpdir(), 'backlot-bench-'))
  try {
    return await rowsIn(home)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

const rowsIn = async (home: string): Promise<Row[]> => {
  const serve = backlotCommand('serve', '--port', '0')
  const nothing = await compiledEmpty(home)
  const started = await sideBySide(15, {
    ours: () => firstAnswer(serve, '/svc/vms', home),
    empty: () => firstAnswer(nothing, '/', home),
  })
  await using ours = await Service.start(serve, home)
  await using empty = await Service.start(nothing, home)
  const settings = { os: 'linux', cpu: 1, memory: '256MB', diskSize: '8GB', display: '1024x768' }
  for (let count = 0; count < vms; count++) await ours.ask('/svc/vms', { name: `vm-${count}`, ...settings })
  const listed = await sideBySide(listings, {
    ours: () => milliseconds(() => ours.ask('/svc/vms')),
    empty: () => milliseconds(() => empty.ask('/')),
  })
  // The next service finds the VMs there; the one that made them holds the native core beside them.
  const again = await Service.start(serve, home)
  for (let count = 0; count < listings; count++) await again.ask('/svc/vms')
  const memory = { ours: ours.memory, again: again.memory, empty: empty.memory }
  await again[Symbol.asyncDispose]()
  return [
    {
      what: `list of ${vms} VMs`,
      unit: 'ms',
      measured: listed.ours,
      floor: { name: 'empty Elysia route', spread: listed.empty },
      aim: { of: 'ratio', atMost: 5 },
    },
    ...[
      { what: `memory of a service that found ${vms} VMs, after ${listings} lists`, measured: memory.again },
      { what: 'of the one that made them', measured: memory.ours },
    ].flatMap(({ what, measured }): Row[] => [
      {
        what,
        unit: 'MB',
        measured: exactly(measured.all),
        floor: { name: 'empty Elysia server', spread: exactly(memory.empty.all) },
        aim: { of: 'difference', atMost: 30 },
      },
      {
        what: 'what of it is no page of a file',
        unit: 'MB',
        measured: exactly(measured.own),
        floor: { name: 'empty Elysia server', spread: exactly(memory.empty.own) },
      },
    ]),
    {
      what: 'start of the service to its first answer',
      unit: 'ms',
      measured: started.ours,
      floor: { name: 'empty Elysia server', spread: started.empty },
      aim: { of: 'ratio', atMost: 2 },
    },
  ]
}

const firstAnswer = (command: readonly [string, ...string[]], path: string, home: string): Promise<number> => {
  let service: Service | undefined
  return milliseconds(async () => {
    service = await Service.start(command, home)
    await service.ask(path)
  }).finally(() => service?.[Symbol.asyncDispose]())
}
