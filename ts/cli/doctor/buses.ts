/** What the session bus offers. Only asks who is there: a call to the accessibility bus would start it. */
import { existsSync } from 'node:fs'
import { type CheckResult, limited, missing, works } from './finding.ts'

/** What a look at the buses gave. */
export interface Buses {
  /** Address of the session bus; undefined where the environment leads to none. */
  readonly address: string | undefined
  /** Why the session bus could not be asked. */
  readonly failure?: 'no_client' | 'no_answer'
  readonly accessibility?: 'running' | 'activatable' | 'absent'
  /** Pids of the applications on a running accessibility bus. */
  readonly applications?: ReadonlySet<number>
}

/** Milliseconds for one question to a bus. */
const answerMs = 3_000

const sessionBus = (): string | undefined => {
  const { DBUS_SESSION_BUS_ADDRESS: named, XDG_RUNTIME_DIR: runtime } = process.env
  if (named) return named
  return runtime && existsSync(`${runtime}/bus`) ? `unix:path=${runtime}/bus` : undefined
}

/** Asks a bus with gdbus, which prints the answer as GVariant text; undefined where there is none. */
const ask = async (gdbus: string, address: string, to: string, path: string, method: string, ...args: string[]) => {
  const child = Bun.spawn(
    [gdbus, 'call', '--session', '--dest', to, '--object-path', path, '--method', method, ...args],
    {
      env: { ...process.env, DBUS_SESSION_BUS_ADDRESS: address },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: answerMs,
    },
  )
  const answer = await child.stdout.text()
  return (await child.exited) === 0 ? answer : undefined
}

const stringsOf = (answer: string): string[] => [...answer.matchAll(/'([^']*)'/g)].map(([, text = '']) => text)

/** Looks at the session bus and, where it runs, at the accessibility bus. */
export const lookAtBuses = async (): Promise<Buses> => {
  const address = sessionBus()
  if (address === undefined) return { address }
  const gdbus = Bun.which('gdbus')
  if (gdbus === null) return { address, failure: 'no_client' }
  const names = (method: string) =>
    ask(gdbus, address, 'org.freedesktop.DBus', '/org/freedesktop/DBus', `org.freedesktop.DBus.${method}`)
  const [owned, activatable] = await Promise.all([names('ListNames'), names('ListActivatableNames')])
  if (owned === undefined || activatable === undefined) return { address, failure: 'no_answer' }
  const isKnown = (answer: string) => stringsOf(answer).includes('org.a11y.Bus')
  if (!isKnown(owned)) return { address, accessibility: isKnown(activatable) ? 'activatable' : 'absent' }
  return { address, accessibility: 'running', applications: await applicationsOf(gdbus, address) }
}

const applicationsOf = async (gdbus: string, session: string): Promise<Set<number>> => {
  const [bus] = stringsOf((await ask(gdbus, session, 'org.a11y.Bus', '/org/a11y/bus', 'org.a11y.Bus.GetAddress')) ?? '')
  if (bus === undefined) return new Set()
  const root = '/org/a11y/atspi/accessible/root'
  const children = await ask(gdbus, bus, 'org.a11y.atspi.Registry', root, 'org.a11y.atspi.Accessible.GetChildren')
  const names = stringsOf(children ?? '').filter((text) => text.startsWith(':'))
  const pids = await Promise.all(
    names.map((name) =>
      ask(gdbus, bus, 'org.freedesktop.DBus', '/', 'org.freedesktop.DBus.GetConnectionUnixProcessID', name),
    ),
  )
  return new Set(pids.flatMap((answer) => /uint32 (\d+)/.exec(answer ?? '')?.[1] ?? []).map(Number))
}

const newSession = 'dbus-run-session -- bash'

export const session = ({ address, failure }: Buses): CheckResult => {
  if (address === undefined) return missing('DBUS_SESSION_BUS_ADDRESS is not set.', newSession)
  if (failure === 'no_client') return limited('It cannot be asked without gdbus.', 'apt-get install libglib2.0-bin')
  if (failure === 'no_answer') return missing(`Nobody answers at "${address}".`, newSession)
  return works(`"${address}".`)
}

export const accessibility = ({ address, failure, accessibility: state }: Buses): CheckResult => {
  if (address === undefined || failure === 'no_answer') return missing('It needs a session bus.', newSession)
  if (failure === 'no_client') return limited('Without gdbus it is not known.', 'apt-get install libglib2.0-bin')
  if (state === 'running') return works('It runs.')
  if (state === 'activatable') return works('It starts when it is needed.')
  return missing('The session bus knows no org.a11y.Bus: windows have no elements.', 'apt-get install at-spi2-core')
}

/** `pids`: the processes that have windows. */
export const applications = (
  { accessibility: state, applications: known }: Buses,
  pids: ReadonlySet<number>,
): CheckResult => {
  if (pids.size === 0) return works('No application has a window yet.')
  if (state === 'absent' || state === undefined)
    return missing('There is no accessibility bus.', 'backlot desktop -- bash')
  const dumb = [...pids].filter((pid) => !known?.has(pid))
  const count = `${pids.size - dumb.length} of ${pids.size} programs with windows have elements.`
  if (dumb.length === 0) return works(count)
  return limited(
    `${count} Without: pid ${dumb.join(', ')}. What launch_app starts has them, if its toolkit can.`,
    `backlot launch_app '{"name": "APP"}'`,
  )
}
