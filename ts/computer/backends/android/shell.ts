/** Shell commands on a device, each in a shell of its own. */
import { constants } from 'node:os'
import { shellOutputLength } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../backend.ts'
import { type EndedBy, stopAtDeadline } from '../../shell/limits.ts'
import type { Connection } from './adb/connection.ts'
import { MarkedOutput, newMark } from './adb/marked-output.ts'
import { quoted } from './adb/quote.ts'
import { nextPacket, packet, sendPacket } from './adb/shell-packets.ts'
import type { AndroidDevice } from './device.ts'
import { deviceHome, folderOf } from './paths.ts'

interface Running {
  readonly connection: Connection
  readonly isInputOpen: boolean
}

/** Signals that the shell around a command outlives, to tell how the command took them. */
const outlived = 'HUP INT QUIT USR1 USR2 ALRM TERM'

/** How it ended, and what it wrote of that on each stream. */
interface ShellEnd {
  readonly stdout: string
  readonly stderr: string
  readonly status: number
  readonly truncated: boolean
}

/** The handlers, and what ends all commands that run. */
export const deviceShell = (device: AndroidDevice): { handlers: Handlers; end(): Promise<void> } => {
  const running = new Map<number, Running>()
  const find = (pid: number): Running => {
    const found = running.get(pid)
    if (found !== undefined) return found
    throw new Failure('command_not_found', `No command ${pid} runs; it has ended, or never began.`, { pid })
  }
  return {
    handlers: {
      run_command: (params, call) => runCommand(device, running, params, call),
      async command_input({ pid, data_b64 = '', end = false }) {
        const { connection, isInputOpen } = find(pid)
        if (!isInputOpen) {
          throw new Failure('invalid_argument', `Command ${pid} reads nothing from here; start it with "stdin_open".`, {
            pid,
          })
        }
        if (data_b64 !== '') await sendPacket(connection, packet.stdin, Buffer.from(data_b64, 'base64'))
        if (end) await sendPacket(connection, packet.closeStdin, new Uint8Array())
        return {}
      },
      async command_signal({ pid, signal = 'SIGTERM' }) {
        find(pid)
        if (!Object.hasOwn(constants.signals, signal)) {
          throw new Failure('invalid_argument', `"${signal}" is no signal; give one such as SIGTERM or SIGINT.`, {
            signal,
          })
        }
        await signalAll(device, pid, signal.slice('SIG'.length))
        return {}
      },
    },
    end: async () => void (await Promise.all([...running.keys()].map((pid) => kill(device, pid)))),
  }
}

/** Signals the shell of a command and what it started, which are one session of the device. */
const signalAll = (device: AndroidDevice, pid: number, name: string) => device.line(`kill -s ${name} -- -${pid}`)

const kill = async (device: AndroidDevice, pid: number): Promise<void> =>
  void (await signalAll(device, pid, 'KILL').catch(() => undefined))

type RunCommand = NonNullable<Handlers['run_command']>

/** Runs a command to its end; while it runs it stands in `running`. */
const runCommand = async (
  device: AndroidDevice,
  running: Map<number, Running>,
  params: Parameters<RunCommand>[0],
  { signal, progress }: Parameters<RunCommand>[1],
) => {
  const command = params.command ?? params.command_args
  if (command === undefined) {
    throw new Failure('missing_argument', '"run_command" needs "command".', { argument: 'command' })
  }
  const cwd = params.cwd === undefined ? '/' : await folderOf(device, params.cwd)
  signal.throwIfAborted()
  const mark = newMark()
  using connection = await device.adb.open(
    `shell,v2,raw:${wrapped(command, cwd, { HOME: deviceHome, ...params.env }, mark)}`,
  )
  const stdout = new MarkedOutput(mark, shellOutputLength)
  const stderr = new MarkedOutput(mark, shellOutputLength)
  const first = await begun(connection)
  const { pid } = first
  running.set(pid, { connection, isInputOpen: params.stdin_open ?? false })
  const stopped = { by: undefined as EndedBy | undefined }
  using _limits = stopAtDeadline(params.timeout && params.timeout * 1_000, signal, (by) => {
    stopped.by ??= by
    // What has taken itself out of the session may hold the streams still.
    void kill(device, pid).then(() => connection[Symbol.dispose]())
  })
  try {
    await progress?.({ pid })
    if (params.stdin !== undefined) await sendPacket(connection, packet.stdin, Buffer.from(params.stdin))
    if (!params.stdin_open) await sendPacket(connection, packet.closeStdin, new Uint8Array())
    const status = await ended(connection, first, { stdout, stderr }, async (stream, text) => {
      if (text !== '') await progress?.({ stream, text })
    }).catch((error: unknown) => {
      if (stopped.by === undefined) throw error
      return 128 + constants.signals.SIGKILL
    })
    if (stopped.by === 'caller') throw signal.reason
    if (stopped.by === 'time') {
      const said = { stdout: stdout.text, stderr: stderr.text }
      throw new Failure('command_timed_out', `Command timed out after ${params.timeout}s`, said)
    }
    return resultOf({ stdout: stdout.text, stderr: stderr.text, status, truncated: stdout.isCut || stderr.isCut })
  } finally {
    running.delete(pid)
  }
}

/** The shell around a command: it tells its process first, and with a mark how the command ended, whatever goes on behind it. */
const wrapped = (command: string, cwd: string, env: Readonly<Record<string, string>>, mark: string): string => {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}; `)
  const trailer = `printf '\\001%s %d\\n' ${mark.slice(1)} $?; printf '\\001%s\\n' ${mark.slice(1)} >&2`
  return `echo $$; trap : ${outlived}; cd ${quoted(cwd)}; ${variables.join('')}sh -c ${quoted(command)}; ${trailer}`
}

/** What a shell has told when its process is known, and what the command wrote by then. */
interface StartedCommand {
  readonly pid: number
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** Reads the process off the shell's first line. What the command writes may come in the same packets. */
export const begun = async (connection: Connection): Promise<StartedCommand> => {
  let [stdout, stderr] = [Buffer.alloc(0), Buffer.alloc(0)]
  for (;;) {
    const { id, bytes } = await nextPacket(connection)
    if (id === packet.exit) throw new Failure('device_failed', 'The device starts no shell.')
    if (id === packet.stdout) stdout = Buffer.concat([stdout, bytes])
    if (id === packet.stderr) stderr = Buffer.concat([stderr, bytes])
    const end = stdout.indexOf('\n')
    if (end !== -1) return { pid: Number(stdout.toString('utf8', 0, end)), stdout: stdout.subarray(end + 1), stderr }
  }
}

/** Reads to the mark on both streams, or to the end of the shell; gives the status. */
const ended = async (
  connection: Connection,
  first: StartedCommand,
  outputs: { readonly stdout: MarkedOutput; readonly stderr: MarkedOutput },
  report: (stream: 'stdout' | 'stderr', text: string) => Promise<void>,
): Promise<number> => {
  const { stdout, stderr } = outputs
  await report('stdout', stdout.take(first.stdout))
  await report('stderr', stderr.take(first.stderr))
  while (stdout.after === undefined || stderr.after === undefined) {
    const { id, bytes } = await nextPacket(connection)
    if (id === packet.exit) {
      await report('stdout', stdout.end())
      await report('stderr', stderr.end())
      return bytes[0] ?? 255
    }
    if (id === packet.stdout) await report('stdout', stdout.take(bytes))
    if (id === packet.stderr) await report('stderr', stderr.take(bytes))
  }
  return Number(stdout.after)
}

const resultOf = ({ stdout, stderr, status, truncated }: ShellEnd) => ({
  stdout,
  stderr,
  return_code: status,
  returncode: status,
  ...(truncated && { truncated }),
})
