import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FailureCode, failures } from '@backlot/contract/failure'
import { lockSocket } from '@backlot/driver/edges/daemon/lock'
import { type Application, installApplication, startCounter, startGtk3, startXterm } from '../support/applications.ts'
import { backlotCommand, type Finished } from '../support/backlot.ts'
import { startBareServer } from '../support/bare-server.ts'
import { privateDesktop } from '../support/desktop.ts'
import { displayWithout } from '../support/display-without.ts'
import { driverCommand } from '../support/driver.ts'
import { element, type Target } from '../support/look.ts'
import { connect, connectTo, type McpClient } from '../support/mcp-client.ts'
import { scratchFolder } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let target: Target
let terminal: Target
const reached = new Set<string>()

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
  const xterm = await startXterm(on())
  terminal = { pid: xterm.pid, window_id: xterm.windowId }
  client = await connect(on())
  await lockWithoutDaemon()
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

/** A call whose daemon finds its socket taken and so never answers; it is waited for while other tests run. */
let waited: Promise<Finished>

const lockWithoutDaemon = async () => {
  const socket = join(on().path('sockets'), 'driver.sock')
  mkdirSync(dirname(socket), { mode: 0o700 })
  const lock = await lockSocket(socket)
  waited = on()
    .backlot(['get_config', '{}', '--socket', socket])
    .finally(() => lock.release())
}

/** Expects that a call over MCP fails so. */
const refuses = async (code: FailureCode, tool: string, args: Facts, through = client): Promise<void> => {
  const { isError, structured, text } = await through.call(tool, args)
  expect({ isError, code: structured.code, text }).toMatchObject({ isError: true, code })
  reached.add(code)
}

/** Expects that a call of the shell form, in a process of its own, fails so. */
const refusesDirectly = async (
  code: FailureCode,
  tool: string,
  args: Facts,
  env: Record<string, string>,
): Promise<void> => {
  const { stdout, status } = await on().backlot([tool, JSON.stringify(args), '--direct'], { env })
  expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: failures[code].exit, code })
  reached.add(code)
}

/** Runs something against a terminal on an X server with these flags, beside which there is nothing. */
const withTerminal = async (
  flags: string[],
  work: (env: Record<string, string>, window: { pid: number; window_id: number }) => Promise<void>,
): Promise<void> => {
  await using server = await startBareServer(...flags)
  const env = { DISPLAY: server.display, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' }
  on().start(['xterm'], env)
  const window = await until('the terminal', async () => {
    const { stdout } = await on().backlot(['list_windows', '{}', '--direct'], { env })
    return (JSON.parse(stdout).windows as Target[])[0]
  })
  await work(env, { pid: window.pid, window_id: window.window_id })
}

const indexOf = async (label: string): Promise<number> => (await element(client, target, label)).element_index

describe('input', () => {
  test('a key of other platforms', () => refuses('unsupported_key', 'press_key', { ...target, key: 'fn' }))

  test('characters that no key gives', () =>
    refuses('text_not_typable', 'type_text', { ...terminal, text: 'bell \u0007' }))

  test('keys for an element that takes no focus', async () => {
    await refuses('element_not_focusable', 'press_key', { ...target, element_index: await indexOf('File'), key: 'a' })
  })

  test('a display without XTEST', async () => {
    await withTerminal(['-extension', 'XTEST'], (env, window) =>
      refusesDirectly('input_unavailable', 'click', { ...window, x: 5, y: 5 }, env),
    )
  })

  test('a display with one pointer and keyboard, on which elements are operated all the same', async () => {
    // Pixels pass no TCP connection in shared memory.
    await using lacking = await displayWithout(on().env.DISPLAY ?? '', 'XInputExtension', 'MIT-SHM')
    const there = backlotCommand('mcp', '--direct')
    await using other = await connectTo(on(), ['env', `DISPLAY=${lacking.display}`, ...there])
    await refuses('foreground_only', 'click', { ...target, x: 5, y: 5 }, other)
    const { element_index } = await element(other, target, 'Press me')
    const mark = app.journal.mark()
    await other.ask('click', { ...target, element_index })
    await app.journal.waitFor('the button', ({ type, widget }) => type === 'clicked' && widget === 'Press me', mark)
  })
})

describe('accessibility', () => {
  test('no bus', async () => {
    await withTerminal([], (env, window) =>
      refusesDirectly('accessibility_unavailable', 'get_window_state', { ...window, capture_mode: 'ax' }, env),
    )
  })

  test('an application that is not on the bus', () =>
    refuses('not_accessible', 'get_window_state', { ...terminal, capture_mode: 'ax' }))

  test('an action that the element lacks', async () => {
    const element_index = await indexOf('Press me')
    await refuses('action_not_supported', 'click', { ...target, element_index, action: 'confirm' })
  })

  test('an application that stands still', async () => {
    const element_index = await indexOf('Press me')
    process.kill(app.pid, 'SIGSTOP')
    try {
      await refuses('accessibility_timeout', 'click', { ...target, element_index })
    } finally {
      process.kill(app.pid, 'SIGCONT')
    }
  })
})

test('an application that does what it was asked for, and then stands still', async () => {
  const counter = await startCounter(on())
  const there = { pid: counter.pid, window_id: counter.windowId }
  const { element_index } = await element(client, there, 'Count')
  for (const [tool, args] of [
    ['type_text', { text: 'sleep' }],
    ['set_value', { value: 'sleep' }],
  ] as const) {
    // It may stand still from before.
    await until('the application to answer', async () => {
      const { isError } = await client.call('set_value', { ...there, element_index, value: '' })
      return !isError
    })
    const since = counter.journal.mark()
    const { structured, text } = await client.call(tool, { ...there, element_index, ...args })
    expect([tool, structured.code, text]).toEqual([
      tool,
      'accessibility_timeout',
      expect.stringMatching(
        /did not answer within \d+ ms. It was asked, and may have done it .* before you call again\.$/,
      ),
    ])
    expect(counter.journal.entries(since)).toMatchObject([{ type: 'inserted', text: 'sleep' }])
  }
})

describe('processes and applications', () => {
  test('a process that is not there', () => refuses('process_not_found', 'kill_app', { pid: 2 ** 22 + 1 }))

  test('a process that the desktop needs', async () => {
    await refuses('protected_process', 'kill_app', { pid: 1 })
    for (const pid of Object.values(on().desktop.pids)) await refuses('protected_process', 'kill_app', { pid })
  })

  test.skipIf(process.getuid?.() !== 0)('a process of somebody else', async () => {
    await using server = await startBareServer()
    const sleeper = on().start(['sleep', '1000'])
    const home = scratchFolder('nobody')
    chmodSync(home, 0o777)
    const drop = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const
    const child = Bun.spawn(
      [...drop, ...driverCommand('call', 'kill_app', JSON.stringify({ pid: sleeper.pid }), '--direct')],
      {
        cwd: '/',
        env: { PATH: process.env.PATH ?? '', HOME: home, DISPLAY: server.display },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'ignore',
      },
    )
    expect(JSON.parse(await child.stdout.text()).code).toBe('process_not_killed')
    reached.add('process_not_killed')
    expect(sleeper.exitCode).toBeNull()
  })

  test('an application that is not installed', () =>
    refuses('app_not_found', 'launch_app', { name: 'backlot-no-such-application' }))

  test('a program that ends at once', async () => {
    installApplication(on(), 'backlot-short-lived', 'Exec=false')
    await refuses('launch_failed', 'launch_app', { bundle_id: 'backlot-short-lived' })
  })

  test('a program for a terminal where there is none', async () => {
    installApplication(on(), 'backlot-for-terminal', `Exec=${Bun.which('true')}`, 'Terminal=true')
    const bare = on().path('bin')
    mkdirSync(bare)
    await refusesDirectly('terminal_not_found', 'launch_app', { bundle_id: 'backlot-for-terminal' }, { PATH: bare })
  })
})

describe('the display', () => {
  test('is lost', async () => {
    const server = await startBareServer()
    await using direct = await connect(on().with({ DISPLAY: server.display }), '--direct')
    await direct.ask('get_screen_size')
    await server[Symbol.asyncDispose]()
    await refuses('display_lost', 'get_screen_size', {}, direct)
  })
})

describe('the daemon and the shell', () => {
  test('a daemon that does not come up', async () => {
    const { stdout, status } = await waited
    expect({ status, ...JSON.parse(stdout) }).toMatchObject({ status: 1, code: 'daemon_unavailable' })
    reached.add('daemon_unavailable')
  })

  test.each([
    ['usage', backlotCommand('desktop', '--wide'), '--wide'],
    ['unknown_command', backlotCommand('direct'), '"direct"'],
    ['not_running', driverCommand('status', '--socket', '/tmp/backlot-nobody.sock'), 'backlot-nobody.sock'],
  ] as const)('%s', async (code, command, text) => {
    const { status, stderr } = await on().run(command)
    expect(status).toBe(failures[code].exit)
    expect(stderr).toContain(text)
    reached.add(code)
  })
})

test('a second daemon', async () => {
  await client.ask('get_config')
  const { status, stderr } = await on().run(driverCommand('serve'))
  expect(status).toBe(failures.already_running.exit)
  expect(stderr).toContain('already running')
  reached.add('already_running')
})

// Nobody found a machine or an application that causes these: at-spi2-atk, for one, answers before it tries an action.
describe('what only a stand-in for the core gives', () => {
  const core = join(import.meta.dir, '../support/fixtures/failing-core.cjs')

  test.each([
    'display_refused',
    'film_not_written',
    'unknown_element',
    'action_refused',
    'text_not_supported',
    'agent_closed',
    'too_many_agents',
    'overlay_unavailable',
    'window_covered',
    'app_not_named',
  ] as const)('%s, whose cause is not tried, passes the edge as a core gives it', async (code) => {
    await refusesDirectly(code, 'list_windows', {}, { BACKLOT_NATIVE_PATH: core, BACKLOT_TEST_CODE: code })
  })

  test('a defect is called one', () => refusesDirectly('internal', 'list_windows', {}, { BACKLOT_NATIVE_PATH: core }))
})

/**
 * The test file that causes each code, and the words that stand for it where it is not seen itself; a new code does not compile without its place. That another file does meet what
 * it names is for its own tests to say.
 */
const places: Record<FailureCode, string | readonly [place: string, words: string]> = {
  invalid_json: 'socket-protocol',
  unknown_tool: 'access',
  tool_not_allowed: 'access',
  argument_not_allowed: 'access',
  missing_argument: 'tools',
  unknown_argument: 'mcp-edge',
  invalid_argument: 'tools',
  invalid_environment: 'headless',
  recording_not_started: 'recording',
  recording_not_found: 'replay',
  film_not_exported: '../../ts/cli/recording/export',
  replay_failed: 'replay',
  secret_not_recorded: 'replay',
  session_ended: 'sessions',
  cancelled: 'socket-protocol',
  paused_by_person: 'pause',
  unsupported_platform: 'tools',
  window_not_found: 'tools',
  window_not_of_process: 'tools',
  process_has_no_window: 'tools',
  window_not_visible: 'gtk3',
  condition_not_met: 'waiting',
  window_manager_refused: 'placing',
  point_outside_window: 'tools',
  zoom_required: 'zoom',
  window_covered: 'failures',
  unknown_key: 'tools',
  unsupported_key: 'failures',
  unknown_modifier: 'tools',
  application_in_use: 'text-keys',
  text_not_typable: 'failures',
  input_unavailable: 'failures',
  foreground_only: 'failures',
  too_many_agents: 'failures',
  agent_closed: 'failures',
  overlay_unavailable: 'failures',
  cursor_image_unreadable: 'cursor',
  target_required: 'tools',
  target_ambiguous: 'tools',
  stale_element: 'tools',
  element_disabled: 'tools',
  element_not_focusable: 'failures',
  accessibility_unavailable: 'failures',
  not_accessible: 'failures',
  accessibility_timeout: 'failures',
  accessibility_failed: 'failure-causes',
  unknown_element: 'failures',
  action_not_supported: 'failures',
  action_refused: 'failures',
  text_not_supported: 'failures',
  value_not_supported: 'values',
  value_not_accepted: 'values',
  menu_not_found: 'menus',
  menu_item_not_found: 'menus',
  menu_item_ambiguous: 'menus',
  menu_closed: 'menus',
  not_on_this_platform: 'page',
  page_not_found: 'page',
  page_ambiguous: 'page-tabs',
  page_needs_debugging_port: 'page-accessible',
  page_busy: 'page-firefox',
  page_not_responding: 'page',
  page_dialog_open: 'page',
  page_gone: 'page',
  script_failed: 'page',
  script_timeout: 'page',
  page_element_not_found: 'page',
  page_element_not_clickable: 'page',
  screenshot_not_written: 'tools',
  config_unreadable: 'tools',
  config_not_written: 'tools',
  unknown_image: 'imagebuild',
  packages_unavailable: 'imagebuild',
  image_not_built: 'imagebuild',
  no_accelerator: '../../ts/vmhost/hypervisors/qemu/accelerator',
  agent_unavailable: 'lume-command',
  template_not_found: 'vmhost-templates',
  template_not_made: 'vmhost-templates',
  device_failed: 'android',
  not_available: 'computer',
  command_timed_out: 'computer-shell',
  element_not_found: 'computer-desktop',
  file_refused: 'computer-files',
  file_exists: 'sdk-files',
  folder_not_empty: 'sdk-files',
  command_not_found: 'sdk-shell',
  file_too_large: 'computer-files',
  terminal_unknown: 'computer-pty',
  film_not_found: 'computer-film',
  film_in_use: 'computer-film',
  too_many_films: 'computer-film',
  too_many_terminals: 'computer-pty',
  guest_file_failed: ['vm-command', 'in the guest cannot be read'],
  guest_timeout: ['lume-command', 'did not end in 1 s'],
  input_not_awaited: 'vm-command',
  feature_missing: '../../ts/vmhost/handlers/features',
  usage: 'failures',
  unknown_command: 'failures',
  unknown_method: 'socket-protocol',
  message_too_long: 'socket-protocol',
  socket_refused: 'daemon',
  already_running: 'failures',
  not_running: 'failures',
  daemon_unavailable: 'failures',
  daemon_mismatch: 'daemon',
  daemon_lost: 'daemon',
  display_unavailable: 'tools',
  display_lost: 'failures',
  display_refused: 'failures',
  process_not_found: 'failures',
  protected_process: 'failures',
  process_not_killed: 'failures',
  app_not_found: 'failures',
  app_not_named: 'failures',
  launch_failed: 'failures',
  terminal_not_found: 'failures',
  capture_failed: 'failure-causes',
  film_not_written: 'failures',
  clipboard_timeout: 'clipboard',
  clipboard_too_large: 'failure-causes',
  invalid_body: 'vmhost',
  unknown_operation: '../../ts/vmhost/http/app',
  foreign_host: '../../ts/vmhost/http/app',
  foreign_origin: '../../ts/vmhost/http/app',
  from_guest: ['lume-command', 'HTTP/1.1 400'],
  unauthorized: '../../ts/vmhost/http/listen',
  token_required: '../../ts/vmhost/http/listen',
  no_console: '../../ts/vmhost/http/listen',
  no_screen: 'console',
  not_a_socket: 'console',
  cannot_listen: '../../ts/vmhost/http/listen',
  host_unreachable: '../../ts/vmhost/http/app',
  invalid_directory: 'vmhost',
  location_exists: 'vmhost',
  location_not_found: 'vmhost',
  location_not_removable: 'vmhost',
  disk_not_found: 'disks',
  disk_exists: 'disks',
  disk_unreadable: 'disks',
  disk_not_written: 'disks',
  disk_corrupt: 'disks',
  disk_unsupported: 'disks',
  disk_in_use: 'disks',
  disk_not_shrunk: 'disks',
  hypervisor_unreachable: 'hypervisor',
  hypervisor_timeout: 'hypervisor',
  hypervisor_lost: 'hypervisor',
  hypervisor_garbled: 'hypervisor',
  hypervisor_refused: 'hypervisor',
  job_failed: 'hypervisor',
  job_not_found: 'hypervisor',
  vm_not_found: 'vmhost-life',
  vm_exists: 'vmhost-life',
  vm_damaged: 'vmhost-locations',
  lock_refused: '../../ts/vmhost/files/file-locks',
  vm_running: 'vmhost-life',
  vm_not_running: 'vmhost-life',
  vm_suspended: 'vmhost-suspend',
  vm_not_suspended: 'vmhost-suspend',
  snapshot_exists: 'vmhost-snapshots',
  snapshot_without_memory: 'vmhost-snapshots',
  vm_has_snapshots: 'vmhost-snapshots',
  memory_not_saved: 'vmhost-suspend',
  memory_unreadable: 'vmhost-suspend',
  vm_busy: 'vmhost-create',
  vm_not_stopped: '../../ts/vmhost/lifecycle/stop',
  hypervisor_failed: '../../ts/vmhost/hypervisors/qemu/process/start-failures',
  port_in_use: '../../ts/vmhost/hypervisors/qemu/process/start-failures',
  host_memory: 'hazard/vmhost-failures',
  disk_full: 'hazard/vmhost-full-disk',
  disk_tool_failed: 'vmhost-create',
  file_not_found: 'vmhost-create',
  image_not_found: 'vmhost-create',
  image_damaged: 'vmhost-create',
  image_unsupported: 'images-registry',
  layer_corrupt: 'images-registry',
  registry_refused: 'images-registry',
  registry_unreachable: 'images',
  pull_failed: 'images',
  download_failed: 'vmhost-create',
  macos_only: 'vmhost-create',
  macos_unavailable: 'vmhost-create',
  location_in_use: 'vmhost-locations',
  storage_unreadable: 'vmhost-locations',
  storage_unusable: 'hazard/vmhost-twins',
  operation_not_found: 'vmhost-life',
  operation_over: 'vmhost-life',
  logs_unreadable: '../../ts/vmhost/host/log-file',
  missing_program: 'headless',
  desktop_not_started: 'headless',
  desktop_lost: 'desktop-command',
  sandbox_exists: 'local',
  sandbox_not_found: 'local',
  snapshot_not_found: 'local-snapshots',
  pool_not_found: 'local-pool',
  sandbox_not_running: 'local',
  sandbox_busy: '../../ts/local/state/locking',
  sandbox_not_started: 'local',
  root_not_built: '../soak/local-root',
  runtime_unavailable: 'local-levels',
  unsupported: 'local',
  user_without_name: 'headless',
  internal: 'failures',
}

/** What a test file does, without what its comments say. */
const codeOf = (place: string): string =>
  new Bun.Transpiler({ loader: 'ts' }).transformSync(readFileSync(join(import.meta.dir, `${place}.test.ts`), 'utf8'))

test('every failure of this file was met, and every other is named by the code of the file that stands for it', () => {
  const optional = process.getuid?.() === 0 ? [] : ['process_not_killed']
  const unreached = Object.entries(places).filter(([code, place]) => {
    if (place === 'failures') return !reached.has(code) && !optional.includes(code)
    if (typeof place !== 'string') return !codeOf(place[0]).includes(place[1])
    return !new RegExp(`['"\`(]${code}['"\`)]`).test(codeOf(place))
  })
  expect(unreached).toEqual([])
  const named = Object.entries(places).filter(([, place]) => place === 'failures')
  expect([...reached].filter((code) => !named.some(([name]) => name === code))).toEqual([])
})
