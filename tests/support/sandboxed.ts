/** Programs in a sandbox that reach the accessibility bus through a proxy, as those of Flatpak do. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Application, startGtk3, startGtk4 } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { until } from './until.ts'

const fixtures = join(import.meta.dir, 'fixtures')

/** What Flatpak lets a program call on the accessibility bus. */
const rules = [
  '--filter',
  '--sloppy-names',
  ...[
    'Socket.Embed@/org/a11y/atspi/accessible/root',
    'Socket.Unembed@/org/a11y/atspi/accessible/root',
    'Registry.GetRegisteredEvents@/org/a11y/atspi/registry',
  ].map((call) => `--call=org.a11y.atspi.Registry=org.a11y.atspi.${call}`),
]

/** Starts a proxy of the desktop's accessibility bus and gives its address. */
export const startProxy = async (on: TestDesktop): Promise<string> => {
  const ask = ['--session', '--dest', 'org.a11y.Bus', '--object-path', '/org/a11y/bus']
  const { stdout } = await on.run(['gdbus', 'call', ...ask, '--method', 'org.a11y.Bus.GetAddress'])
  const [, bus = ''] = /\('(.*)',\)/.exec(stdout) ?? []
  const path = on.path('proxy')
  on.start(['xdg-dbus-proxy', bus, path, ...rules])
  await until('the proxy to listen', () => existsSync(path))
  return `unix:path=${path}`
}

const starts = {
  gtk3: (on: TestDesktop, title: string) => startGtk3(on, 'controls', { title }),
  gtk4: (on: TestDesktop, title: string) => startGtk4(on, { title }),
}

/** Starts a program of common controls in a sandbox, behind the proxy at that address; its `pid` is that outside of the sandbox. */
export const startSandboxed = async (
  on: TestDesktop,
  toolkit: 'gtk3' | 'gtk4',
  proxy: string,
  title: string,
): Promise<Application> => {
  const inSandbox = on.within(join(fixtures, 'sandboxed.sh'), proxy)
  const others = new Set(entitled(title))
  const application = await starts[toolkit](inSandbox, title)
  const found = entitled(title).filter((pid) => !others.has(pid))
  if (found.length !== 1) throw new Error(`${found.length} new processes are the first of a sandbox for "${title}"`)
  return { ...application, pid: Number(found[0]) }
}

/** Processes that were started with this title and are number 1 of a PID namespace below. */
const entitled = (title: string): readonly string[] =>
  readdirSync('/proc').filter((entry) => {
    if (!/^\d+$/.test(entry)) return false
    try {
      const [numbers = ''] = /^NSpid:.*$/m.exec(readFileSync(`/proc/${entry}/status`, 'utf8')) ?? []
      const [program = '', ...words] = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')
      return numbers.endsWith('\t1') && !program.endsWith('bwrap') && words.includes(title)
    } catch {
      return false
    }
  })
