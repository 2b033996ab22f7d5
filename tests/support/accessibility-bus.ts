/** The accessibility bus of a desktop: which processes it is, and how it gets slow. */
import { readFileSync } from 'node:fs'
import type { TestDesktop } from './desktop.ts'

/** Pids of the accessibility bus of a session bus: of its daemon, and of the registry on it. */
export const accessibilityBus = async (on: TestDesktop, session: string): Promise<number[]> => {
  const { stdout } = await on.run(['pgrep', '-f', 'at-spi2-registryd|--config-file=.*accessibility.conf'])
  const at = `DBUS_SESSION_BUS_ADDRESS=${session}`
  const pids = stdout.split('\n').filter(Boolean).map(Number)
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1')
        .split('\0')
        .some((each) => each === at || each.startsWith(`${at},`))
    } catch {
      return false
    }
  })
}

/** How long a slow bus stands at a time, in milliseconds. */
const standsMs = 200

/** Has the accessibility bus of a desktop stand most of the time, as on a machine that has no time for it, until disposed. */
export const slowBus = async (on: TestDesktop): Promise<Disposable> => {
  const pids = await accessibilityBus(on, on.env.DBUS_SESSION_BUS_ADDRESS ?? '')
  if (pids.length === 0) throw new Error('no accessibility bus was found')
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => pids.forEach((pid) => void process.kill(pid, name))
  let going: NodeJS.Timeout | undefined
  const stop = () => {
    signal('SIGSTOP')
    going = setTimeout(() => signal('SIGCONT'), standsMs)
  }
  const timer = setInterval(stop, standsMs * 1.1)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      clearTimeout(going)
      signal('SIGCONT')
    },
  }
}
