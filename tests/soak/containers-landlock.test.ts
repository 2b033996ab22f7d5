/** Sandboxes of the level `landlock` in a container as Docker makes it by default, killed at random moments. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasLandlock } from '@backlot/native'
import { type Docker, startSmallDocker } from '../support/docker.ts'
import { machinePrograms, makeMachineImage } from '../support/machine-container.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(900_000))

const folder = mkdtempSync(join(tmpdir(), 'containers-'))
makeMachineImage(folder)
const started = await startSmallDocker(folder)
const docker = typeof started === 'string' ? undefined : (started as Docker)
if (docker === undefined) console.log(`skipped: ${String(started)}`)

afterAll(async () => {
  await docker?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const count = rounds(100)

/** Kills starts at a moment of each, and of every second one, which stays, also what looks after it. */
const killing = `
export HOME=/home/agent; mkdir -p $HOME
locals=$HOME/.local/state/backlot/local
start() { exec backlot local start --isolation landlock "$@" </dev/null >/dev/null 2>&1; }
backlot local start --isolation landlock --name first >/dev/null
whole=1500
round=0
while [ $round -lt ${count} ]; do
  if [ $((round % 2)) = 0 ]; then start --ephemeral & else start & fi
  starter=$!
  sleep "$(printf '%d.%03d' $((RANDOM * whole / 32768 / 1000)) $((RANDOM * whole / 32768 % 1000)))"
  kill -KILL $starter
  wait $starter 2>/dev/null
  if [ $((round % 2)) = 1 ]; then
    for supervisor in $(sed -n 's/.*"supervisor":{"pid":\\([0-9]*\\).*/\\1/p' $locals/*/run.json); do
      kill -KILL "$supervisor" 2>/dev/null
    done
  fi
  round=$((round + 1))
done
for look in $(seq 600); do pgrep -f '[l]ocal supervise' >/dev/null || break; sleep 0.1; done
pgrep -fa '[l]ocal supervise'
for name in $(backlot local list --json | grep -o '"name":"[^"]*"' | cut -d'"' -f4); do backlot local delete "$name" >/dev/null; done
left() {
  ls -A $locals
  ls -d /tmp/backlot-l-* /tmp/.X?*-lock /tmp/.X11-unix/* 2>/dev/null
  pgrep -fa 'forwarded-[p]ort|[-]rfbport'
}
for look in $(seq 600); do [ -n "$(left)" ] || break; sleep 0.1; done
left
echo over`

test.skipIf(docker === undefined || !hasLandlock())(
  `nothing is left in a default container of sandboxes that are killed, ${count} times`,
  async () => {
    const words = ['run', '--rm', ...machinePrograms(), docker?.base ?? '', 'bash', '-c', killing]
    // On standard error the shell tells of each that was killed.
    expect(await docker?.run(...words)).toMatchObject({ stdout: 'over\n', status: 0 })
  },
)
