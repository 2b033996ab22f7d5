/** A desktop as a sandbox on the runtime `qemu`, from nothing and from the template that the first has left. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Image, runtimes, Sandbox } from '@backlot/sdk'
import { giveAcceleration } from '../../support/acceleration.ts'
import { testImages } from '../../support/image.ts'
import { milliseconds, type Row, spreadOf } from '../driver/measure.ts'
import { buildDesktop } from './desktop-image.ts'

const rounds = process.argv.includes('--quick') ? 2 : 5
const settings = { runtime: runtimes.qemu(), timeoutMs: 600_000, memoryMb: 2_048, diskGb: 6 } as const

/** From create to the first picture. */
const seen = async (name: string): Promise<number> => {
  const took = await milliseconds(async () => {
    const sandbox = await Sandbox.create(Image.desktop(), { ...settings, name })
    await sandbox.screenshot()
  })
  await Sandbox.delete(name)
  return took
}

/** Ends the host that the runtime has started, which waits for more work. */
const endHost = (home: string): void => {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(home)) process.kill(Number(pid), 'SIGTERM')
    } catch {
      // It has ended meanwhile.
    }
  }
}

export const sandboxRows = async (): Promise<Row[]> => {
  const home = mkdtempSync(join(tmpdir(), 'backlot-forks-'))
  await buildDesktop(home)
  mkdirSync(join(home, 'cache'))
  symlinkSync(testImages, join(home, 'cache/images'))
  giveAcceleration(home)
  process.env.BACKLOT_HOME = home
  try {
    const first = await seen('first')
    const samples: number[] = []
    for (let round = 0; round < rounds; round++) samples.push(await seen(`next-${round}`))
    return [
      {
        ...{ what: 'a sandbox of a desktop on `qemu`, warm, from create to the first picture', unit: 'ms' },
        measured: spreadOf(samples),
        floor: { name: 'the first of its kind', spread: spreadOf([first]) },
        aim: { of: 'median', atMost: 1_000 },
      },
    ]
  } finally {
    endHost(home)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}
