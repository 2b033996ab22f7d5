/** `container-engine.ts ROUNDS`, where the root is thrown away: starts an engine with a minimal Debian, and measures on it. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSmallDocker } from '../../support/docker.ts'

const folder = mkdtempSync(join(tmpdir(), 'bench-containers-'))
const base = join(folder, 'base')
const made = Bun.spawnSync(['mmdebstrap', '--variant=minbase', 'bookworm', base], { stdout: 'ignore', stderr: 'pipe' })
const started = made.success
  ? await startSmallDocker(base)
  : `no base: ${made.stderr.toString().trim().split('\n').at(-1)}`
if (typeof started === 'string') {
  console.log(JSON.stringify(started))
} else {
  await using docker = started
  const program = [process.execPath, join(import.meta.dir, 'container-program.ts'), ...process.argv.slice(2)]
  const child = Bun.spawn([...docker.inside, ...program], {
    env: { ...process.env, DOCKER_HOST: docker.host, BACKLOT_HOME: join(folder, 'home') },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  process.exitCode = await child.exited
}
