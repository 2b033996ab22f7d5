/** The computer of the demo: a container of `docker/desktop`, or without an engine the same desktop here. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import { programCalled } from '../executable.ts'
import { writeSession } from './desktop-recipe.ts'

/** A computer that serves; disposing of it ends all of it. */
export interface DemoComputer extends AsyncDisposable {
  readonly url: string
  /** Address of the view, for a browser. */
  readonly viewUrl: string
  readonly terminal: readonly [string, ...string[]]
  readonly browser: readonly [string, ...string[]]
  /** Rejects where it has ended by itself, with what it said. */
  readonly lost: Promise<never>
}

/** Name of the image that `docker/desktop` is built as. */
const image = 'backlot-desktop'

const output = async (...command: string[]): Promise<string | undefined> => {
  const [program = ''] = command
  if (Bun.which(program) === null) return undefined
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  const [text, status] = await Promise.all([child.stdout.text(), child.exited])
  return status === 0 ? text.trim() : undefined
}

/** The engine that has the image; undefined where none does. */
const findEngine = async (): Promise<string | undefined> => {
  for (const engine of ['docker', 'podman']) {
    if ((await output(engine, 'image', 'inspect', '--format', '{{.Id}}', image)) !== undefined) return engine
  }
  return undefined
}

/** Starts it in a container where an engine has the image, and says by `say` which it is. Throws `missing_program`. */
export const startDemoComputer = async (say: (line: string) => Promise<void>): Promise<DemoComputer> => {
  const engine = await findEngine()
  if (engine !== undefined) {
    await say(`In a container: ${engine} has the image ${image}.`)
    return startContainer(engine)
  }
  await say(
    `On a private desktop here: no engine has the image ${image} (docker/desktop/README.md says how to build it).`,
  )
  return startHere()
}

const startContainer = async (engine: string): Promise<DemoComputer> => {
  const ports = ['--publish', '127.0.0.1::8000', '--publish', '127.0.0.1::6080']
  const id = await output(engine, 'run', '--detach', '--rm', ...ports, image)
  if (id === undefined) throw new Failure('host_unreachable', `"${engine} run ${image}" failed; run it to see why.`)
  const end = async () => void (await output(engine, 'rm', '--force', id))
  const addressOf = async (port: number) => `http://${(await output(engine, 'port', id, String(port)))?.split('\n')[0]}`
  try {
    const [url, viewUrl] = await Promise.all([addressOf(8000), addressOf(6080)])
    const lost = new Promise<never>(() => undefined)
    return { url, viewUrl, terminal: ['lxterminal'], browser: ['chromium'], lost, [Symbol.asyncDispose]: end }
  } catch (error) {
    await end()
    throw error
  }
}

const terminals = ['lxterminal', 'xfce4-terminal', 'xterm'] as const
const browsers = ['chromium', 'google-chrome', 'firefox-esr', 'firefox'] as const

const firstOf = (programs: readonly string[]): string => {
  const found = programs.find((program) => Bun.which(program) !== null)
  if (found !== undefined) return found
  throw new Failure(
    'missing_program',
    `The demo needs one of ${programs.map((name) => `"${name}"`).join(', ')}; on Debian and Ubuntu run: apt-get install ${programs[0]}`,
    { programs, packages: [programs[0]] },
  )
}

const startHere = async (): Promise<DemoComputer> => {
  const terminal = firstOf(terminals)
  const browser = firstOf(browsers)
  const folder = mkdtempSync(join(tmpdir(), 'backlot-demo-'))
  const [home, session] = [join(folder, 'home'), join(folder, 'session')]
  mkdirSync(home)
  writeSession(session)
  const { command, argv0 } = programCalled('backlot')
  const words = ['computer', '--desktop', '--session', session, '--port', '0']
  const child = Bun.spawn([...command, ...words], {
    argv0,
    env: { ...process.env, HOME: home, [environment.home]: folder, [environment.computerKey]: '' },
    cwd: home,
    // In a session of its own: a terminal's Ctrl+C is for the demo, which ends it.
    detached: true,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const log = child.stderr.text()
  const end = async () => {
    child.kill('SIGTERM')
    await child.exited
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const { value } = await child.stdout.getReader().read()
  const url = new TextDecoder().decode(value).trim()
  if (url === '') {
    await end()
    throw new Failure('host_unreachable', `The computer server did not start: ${(await log).trim()}`)
  }
  const lost = Promise.all([log, child.exited]).then(([said]) => {
    throw new Failure('desktop_lost', `The computer server ended: ${said.trim().split('\n').at(-1)}`, {})
  })
  lost.catch(() => undefined)
  return {
    url,
    lost,
    viewUrl: `${url}/view`,
    terminal: [terminal, ...(terminal === 'xterm' ? xtermFlags : [])],
    browser: [browser, ...flagsOf(browser)],
    [Symbol.asyncDispose]: end,
  }
}

/** The colours and the font of the recipe's terminal. */
const xtermFlags = ['-fa', 'DejaVu Sans Mono', '-fs', '11', '-bg', '#2e3440', '-fg', '#e5e9f0']

/** Chromium's greeting hides the page. Its sandbox refuses root, and needs user namespaces, which most containers lack. */
const flagsOf = (browser: string): string[] => {
  if (browser.startsWith('firefox')) return []
  const lacksNamespaces = Bun.which('unshare') !== null && !Bun.spawnSync(['unshare', '--user', 'true']).success
  return ['--no-first-run', '--no-default-browser-check', '--password-store=basic', '--disable-gpu'].concat(
    process.getuid?.() === 0 || lacksNamespaces ? ['--no-sandbox', '--test-type'] : [],
  )
}
