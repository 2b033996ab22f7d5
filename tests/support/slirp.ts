/** A network of its own for a program, which slirp4netns leads to this machine: its loopback is 10.0.2.2 there. */
import { existsSync, readFileSync } from 'node:fs'
import type { Finished } from './backlot.ts'
import { until } from './until.ts'

/** A running network; disposing of it ends what is in it. */
export interface SlirpNetwork extends AsyncDisposable {
  /** Runs a program in it to its end. */
  run(...command: [string, ...string[]]): Promise<Finished>
}

/** Why there can be none here; undefined where there can. */
export const whyNoSlirp = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'a network of its own needs root'
  if (Bun.which('slirp4netns') === null) return 'the program slirp4netns is missing'
  return existsSync('/dev/net/tun') ? undefined : 'there is no /dev/net/tun'
}

/** Starts one, with the way to this machine's loopback that its option `--disable-host-loopback` would close. */
export const startSlirpNetwork = async (): Promise<SlirpNetwork> => {
  const inside = Bun.spawn(['unshare', '--net', '--kill-child', '--fork', 'sleep', 'infinity'], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const first = await until('the network', () => {
    const children = `/proc/${inside.pid}/task/${inside.pid}/children`
    return (existsSync(children) && readFileSync(children, 'utf8').trim()) || undefined
  })
  const slirp = Bun.spawn(['slirp4netns', '--configure', first, 'tap0'], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const run = async (...command: [string, ...string[]]): Promise<Finished> => {
    const child = Bun.spawn(['nsenter', `--net=/proc/${first}/ns/net`, ...command], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { stdout, stderr, status }
  }
  await until('its way out', async () => (await run('ip', 'route')).stdout.includes('default via 10.0.2.2'))
  return {
    run,
    async [Symbol.asyncDispose]() {
      // Before the one that takes it along: it lives for sure.
      process.kill(Number(first), 'SIGKILL')
      for (const child of [slirp, inside]) child.kill('SIGKILL')
      await Promise.all([slirp.exited, inside.exited])
    },
  }
}
