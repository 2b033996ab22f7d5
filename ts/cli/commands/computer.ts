/** `backlot computer`: the computer server, until it is interrupted. */
import { rmdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { computerPort } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import { environment, privateDesktop } from '@backlot/contract/limits'
import type { Command } from '../command.ts'
import type { RunningComputer } from '../compose/computer.ts'
import { readFlags } from '../flags.ts'
import { interruption, keyInFile, listeningFlags, readListening, readPort, type ServerKind } from '../listening.ts'
import { screenSize } from '../screen-size.ts'

const { width, height } = privateDesktop.size

export const command: Command = {
  summary: 'Serve this computer, or a private desktop on it, over HTTP and WebSocket.',
  usage: `backlot computer [--desktop] [--size WxH] [--session DIR] [--port N] [--view-port N] [--host ADDRESS]
                        [--key-file PATH] [--name NAME] [--open]
       backlot computer --listen unix:PATH [--forwarded-port N] [--until-input-ends] [--desktop] [--size WxH]
                        [--session DIR] [--key-file PATH]
       backlot computer --android [--serial SERIAL] [--boot-reason PATH] [--desktop] [--size WxH] [--session DIR] …

  --desktop          Start a private desktop and serve that; otherwise the display of this session is served. A window
                     manager that dies is started again; when another part of the desktop does, a new desktop is.
  --size WxH         Pixels of its screen; ${width}x${height} when absent.
  --session DIR      What the private desktop shows beside its windows: DIR/menu.xml, openbox's menu of the root window;
                     DIR/wallpaper.jpg, the picture; DIR/programs, programs that are kept running, such as a panel. One
                     that ends with status 0 is over; one that dies is started again, after ever longer pauses.
  --x-server DIR     The X server of the private desktop runs already, and files in DIR lead to it: so does
                     \`backlot local\` start it where this program may not.
  --android          Serve an Android device instead, through the adb server that listens at ADB_SERVER_SOCKET or on
                     port 5037; \`adb start-server\` starts one. Nothing has to be installed on the device.
                     With --desktop the view shows that private desktop, on which an emulator of the session's programs
                     has its window.
  --serial SERIAL    Which device of \`adb devices\`; the only one when absent.
  --boot-reason PATH A file; the text in it, if there is one, is added to the reason that GET /status gives while no
                     device answers.
  --port N           Port to listen on; ${computerPort} when absent, 0 for any free one.
  --view-port N      A second port, as guarded as the first, whose address leads to the view.
  --host ADDRESS     Address to listen on; 127.0.0.1 when absent. Beyond this machine a key is required.
  --key-file PATH    File that holds the key, which callers send as \`X-API-Key: KEY\` or \`Authorization: Bearer KEY\`. It
                     is read again when it changes.
                     ${environment.computerKey} may hold the key itself.
  --name NAME        A name under which others reach this machine, beside its own; may be given several times.
  --open             Listen beyond this machine without a key too: whoever reaches the port uses the computer. It is for
                     the entry of a container, whose ports are published on 127.0.0.1.
  --listen unix:PATH Listen on a Unix socket instead, which only its owner may use.
  --until-input-ends End when standard input does: given a pipe, the server ends with the program at its other end, however
                     that ends. The folder of its socket goes with it, where it holds nothing else.
  --forwarded-port N The port of 127.0.0.1 from which another program leads callers to that socket: they call the server
                     by its number, and links to the view hold it.

Prints its address when it listens; GET /status says when the computer can be used. Requests are logged on standard
error. POST /cmd and WS /ws take commands (GET /commands lists them, /docs describes them), /mcp serves the driver's
tools, /files and /pty stream files and terminals, /view shows the screen. Where a key is asked for, a link to the view
follows on standard error that lets one browser in, once.`,
  async run(args) {
    const values = read(args)
    const where = readListening(values, kind)
    const untilInputEnds = values['until-input-ends'] ?? false
    const ports = portsOf(values)
    const say = (line: string) => void process.stderr.write(`${new Date().toISOString()} ${line}\n`)
    const { startComputer } = await import('../compose/computer.ts')
    const { readSession } = await import('../compose/desktop-session.ts')
    // Disposed of in reverse, so that the socket has left its folder.
    await using _ = { [Symbol.asyncDispose]: () => (untilInputEnds ? leaveFolder(where.address) : Promise.resolve()) }
    const keyFile = values['key-file']
    const key = keyFile === undefined || where.key === undefined ? where.key : keyInFile(keyFile, where.key, kind)
    const common = { ...where, key, isOpen: values.open ?? false, forwardedPort: ports.forwarded, log: say }
    const { startDeviceServer } = await import('../compose/device.ts')
    const options = {
      ...common,
      desktop: values.desktop ? screenSize(values.size) : undefined,
      session: values.session === undefined ? undefined : readSession(values.session),
      xServer: values['x-server'],
      viewPort: ports.view,
    }
    const serve = () =>
      values.android
        ? startDeviceServer({ ...options, serial: values.serial, bootReason: values['boot-reason'] })
        : startComputer(options)
    await using computer: RunningComputer = await serve()
    const ended = interruption()
    process.stdout.write(`${computer.url}\n`)
    if (values.open && where.key === undefined) {
      say(`open: whoever reaches ${computer.url} uses this computer, without a key (--open)`)
    }
    if (computer.viewUrl !== undefined) say(`view: ${computer.viewUrl}`)
    const link = computer.newLink()
    if (link !== undefined) say(`view, for one browser, once: ${link}`)
    await Promise.race([
      ended,
      ...(computer.failed === undefined ? [] : [computer.failed]),
      ...(untilInputEnds ? [endOfInput()] : []),
    ])
    return 0
  },
}

const flags = {
  desktop: { type: 'boolean' },
  size: { type: 'string' },
  session: { type: 'string' },
  'x-server': { type: 'string' },
  'view-port': { type: 'string' },
  'forwarded-port': { type: 'string' },
  open: { type: 'boolean' },
  android: { type: 'boolean' },
  serial: { type: 'string' },
  'boot-reason': { type: 'string' },
  'until-input-ends': { type: 'boolean' },
  ...listeningFlags,
} as const

const read = (args: readonly string[]) => readFlags('computer', { args: [...args], options: flags }).values

type Values = ReturnType<typeof read>

/** Flags that mean something beside another one only. */
const companions = [
  ['size', 'desktop', '--size is for --desktop: the screen of this session is as large as it is.'],
  ['session', 'desktop', '--session is for --desktop: this session has its own panel and picture.'],
  ['x-server', 'desktop', '--x-server is for --desktop: this session has its own X server.'],
  ['serial', 'android', '--serial is for --android: it names a device.'],
  ['boot-reason', 'android', '--boot-reason is for --android: a desktop tells its own reasons.'],
] as const

/** The ports that are named. Throws `invalid_argument` for flags that exclude each other, or lack their companion. */
const portsOf = (values: Values): { readonly view: number | undefined; readonly forwarded: number | undefined } => {
  const refuse = (argument: string, text: string): never => {
    throw new Failure('invalid_argument', text, { argument })
  }
  for (const [flag, companion, text] of companions) {
    if (values[flag] !== undefined && !values[companion]) refuse(flag, text)
  }
  if (values.android && values['view-port'] !== undefined && !values.desktop) {
    refuse('view-port', '--view-port of --android is for --desktop: a device itself has no view.')
  }
  const view = readPort('view-port', values['view-port'])
  if (view !== undefined && values.listen !== undefined) {
    refuse('view-port', '--listen and --view-port exclude each other: give one of them.')
  }
  const forwarded = readPort('forwarded-port', values['forwarded-port'])
  if (forwarded !== undefined && values.listen === undefined) {
    refuse('forwarded-port', '--forwarded-port is for --listen: a port of the network is reached as it is.')
  }
  return { view, forwarded }
}

/** Removes the folder of a Unix socket, which whoever started the server made for it, where it is empty. */
const leaveFolder = async (address: string): Promise<void> => {
  if (!address.startsWith('unix:')) return
  const folder = dirname(resolve(address.slice('unix:'.length)))
  await rmdir(folder).catch(() => undefined)
}

/** Settles when standard input has ended; what it holds is of no concern. */
const endOfInput = async (): Promise<void> => {
  for await (const _ of Bun.stdin.stream()) {
    // There is nothing to say.
  }
}

const kind: ServerKind = { usualPort: computerPort, keyIs: 'key', keyVariable: environment.computerKey }
