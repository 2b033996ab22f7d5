/** A VM host of its own for a test: `backlot serve` with a throw-away home. */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveAcceleration, keepAcceleration } from './acceleration.ts'
import { backlotCommand, type Finished, runBacklot } from './backlot.ts'
import { until } from './until.ts'

/** Ends the hypervisors of the VMs in the locations of a home that a test has not stopped, as their pid files name them. */
const killVms = async (home: string): Promise<void> => {
  const files = [...new Bun.Glob('**/hypervisor.pid').scanSync({ cwd: home, dot: true })]
  for (const file of files) {
    const pid = Number(await Bun.file(join(home, file)).text())
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended in the meantime.
    }
  }
}

/** Waits until nothing runs that was started with that home: what a service has asked for may outlive it by a moment. */
const ended = (home: string): Promise<true> =>
  until('what used the home of the service to end', () => {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return !pids.some((pid) => usesHome(join('/proc', pid, 'environ'), home))
  })

const usesHome = (file: string, home: string): boolean => {
  try {
    return readFileSync(file, 'latin1').split('\0').includes(`BACKLOT_HOME=${home}`)
  } catch {
    // It has ended, or is another user's.
    return false
  }
}

/** A running service; disposing of it ends the process and removes its home. */
export interface VmHost extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, as the service printed it. */
  readonly url: string
  readonly port: number
  readonly pid: number
  /** `BACKLOT_HOME` of the service. */
  readonly home: string
  /** What the service wrote on standard error so far. */
  log(): string
  /** Ends the service as a service manager does, and gives its exit status. */
  end(): Promise<number>
  /** Ends it with SIGKILL, in the middle of whatever it does. */
  kill(): Promise<void>
  /** `backlot host …` against this service. */
  host(...args: string[]): Promise<Finished>
}

/**
 * Starts the service on a free port, or as `args` say, and waits for its address. With a `home` it takes up what another
 * has left there, and does not remove it; `environment` says where it keeps its files in it.
 */
export const startVmHost = async (
  args: readonly string[] = ['--port', '0'],
  givenHome?: string,
  environment?: Readonly<Record<string, string>>,
): Promise<VmHost> => {
  const home = givenHome ?? (await mkdtemp(join(tmpdir(), 'backlot-vmhost-')))
  giveAcceleration(home)
  const child = Bun.spawn(backlotCommand('serve', ...args), {
    env: { ...process.env, ...(environment ?? { BACKLOT_HOME: home }) },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let log = ''
  const logged = (async () => {
    const decoder = new TextDecoder()
    for await (const part of child.stderr) log += decoder.decode(part, { stream: true })
  })()
  const end = async (): Promise<number> => {
    child.kill('SIGTERM')
    await logged
    return child.exited
  }
  const first = await child.stdout.getReader().read()
  const url = new TextDecoder().decode(first.value).trim()
  if (url === '') {
    await end()
    if (givenHome === undefined) await rm(home, { recursive: true, force: true })
    throw new Error(`the service did not start: ${log}`)
  }
  return {
    url,
    port: Number(URL.parse(url)?.port ?? 0),
    pid: child.pid,
    home,
    log: () => log,
    end,
    async kill() {
      child.kill('SIGKILL')
      await Promise.all([logged, child.exited])
    },
    host: (...words) => runBacklot(['host', ...words], { BACKLOT_HOST_URL: url, BACKLOT_HOME: home }),
    async [Symbol.asyncDispose]() {
      // VMs outlive their service, but not its home.
      if (givenHome === undefined) await killVms(home)
      await end()
      if (givenHome === undefined) await ended(home)
      keepAcceleration(home)
      if (givenHome === undefined) await rm(home, { recursive: true, force: true })
    },
  }
}
