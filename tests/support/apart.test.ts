import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const apart = join(import.meta.dir, 'apart')
const root = join(import.meta.dir, '../..')
const kept = mkdtempSync(join(tmpdir(), 'backlot-apart-'))
const isPossible = Bun.spawnSync([apart, '--probe']).success

afterAll(() => rmSync(kept, { recursive: true }))

const within = (command: string) => {
  const { exitCode, stdout } = Bun.spawnSync([apart, kept, 'sh', '-c', command], { cwd: root })
  return { status: exitCode, lines: stdout.toString().trim().split('\n') }
}

test.skipIf(!isPossible)('apart, the checkout is in view and what is written stays out of it', () => {
  const { status, lines } = within(
    `pwd; ls package.json; echo new > written; cat written; echo kept > ${kept}/word; exit 3`,
  )
  expect({ status, lines }).toEqual({ status: 3, lines: [root, 'package.json', 'new'] })
  expect(existsSync(join(root, 'written'))).toBe(false)
  expect(readFileSync(join(kept, 'word'), 'utf8')).toBe('kept\n')
})

test.skipIf(!isPossible)(
  'apart, no process of the machine is in reach, and the network is a loopback of its own',
  () => {
    expect(within(`kill -0 ${process.pid} 2>/dev/null || echo gone`).lines).toEqual(['gone'])
    expect(
      within('ls /sys/class/net 2>/dev/null >/dev/null; ip -o addr show up | cut -d" " -f2 | sort -u').lines,
    ).toEqual(['lo'])
  },
)
