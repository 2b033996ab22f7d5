import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { supervisedHere } from './processes.ts'
import { sweep } from './sweeping.ts'

test('a folder for sockets goes when its supervisor is dead and its sandbox gone, and not before', async () => {
  const base = mkdtempSync(join(tmpdir(), 'sweeping-'))
  const here = supervisedHere()
  // A process with that pid, which began at another time.
  const dead = { ...here, supervisor: { pid: process.pid, start_ticks: 0 } }
  const owners = {
    left: { ...dead, origin: join(base, 'gone') },
    supervised: { ...here, origin: join(base, 'gone') },
    present: { ...dead, origin: base },
    damaged: { ...here, supervisor: undefined },
    elsewhere: { ...dead, namespace: here.namespace + 1, origin: join(base, 'gone') },
  }
  const pathOf = (name: string): string => `/tmp/backlot-l-${process.pid}-${name}`
  try {
    for (const [name, owner] of Object.entries(owners)) {
      mkdirSync(pathOf(name), { mode: 0o700 })
      writeFileSync(join(pathOf(name), 'owner.json'), JSON.stringify(owner))
    }
    // A program of the sandbox may put there what nobody ever writes to.
    mkdirSync(pathOf('pipe'), { mode: 0o700 })
    expect(Bun.spawnSync(['mkfifo', join(pathOf('pipe'), 'owner.json')]).exitCode).toBe(0)
    await sweep(base)
    expect(Object.keys(owners).filter((name) => existsSync(pathOf(name)))).toEqual([
      'supervised',
      'present',
      'damaged',
      'elsewhere',
    ])
  } finally {
    for (const name of [...Object.keys(owners), 'pipe']) rmSync(pathOf(name), { recursive: true, force: true })
    rmSync(base, { recursive: true, force: true })
  }
})
