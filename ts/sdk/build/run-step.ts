/** Running the steps of a build on a computer. */
import { shellText } from '@backlot/contract/text/shell-text'
import type { CallOptions, CommandResult, OsType } from '../basics.ts'
import { withDeadline } from '../deadline.ts'
import { CommandError, LayerError, TimeoutError, UnsupportedError } from '../errors.ts'
import type { BuildStep, Layer } from '../image/layer.ts'
import { type BuiltOs, isLayer } from '../image/layers.ts'
import { builtin } from '../image/local-files.ts'
import { filesOf } from '../interfaces/files.ts'
import { shellOf } from '../interfaces/shell.ts'
import { routes } from '../transports/routes.ts'
import { checkStatus } from '../transports/status.ts'
import type { Transport } from '../transports/transport.ts'
import { commandOf, stepCommand } from './commands.ts'
import { checkDeviceStep, runDeviceStep } from './device-step.ts'
import type { LayerOptions } from './layer-options.ts'

/** Milliseconds that a layer may take. */
export const layerTimeoutMs = 600_000

/** What a server says of its system, by the words of images. */
const systems: Readonly<Record<string, OsType>> = {
  linux: 'linux',
  darwin: 'macos',
  mac: 'macos',
  windows: 'windows',
  android: 'android',
}

/** The system behind a transport, as its server says it. Throws `unsupported` where nothing is built there. */
export const builtOsOf = async (transport: Transport, options?: CallOptions): Promise<OsType> => {
  const server = transport[routes]
  const said =
    server === undefined
      ? await transport.getEnvironment(options)
      : (await withDeadline(options, 'Asking for the system', (signal) => checkStatus(server, server.name, signal)))
          .os_type
  const os = systems[String(said)]
  if (os !== undefined) return os
  throw new UnsupportedError(`Nothing is built on "${said}", which no image is of.`)
}

/** Throws `unsupported` for a step that is not carried out on a system. */
export const checkStep = (step: BuildStep, os: OsType): void => {
  if (os === 'android') checkDeviceStep(step)
  else if (step.type !== 'copy') stepCommand(step, os)
}

/** Runs a step; a layer that fails throws `layer_failed`, variables and files that are not set `command_failed`. */
export const runStep = async (
  transport: Transport,
  os: OsType,
  step: BuildStep,
  options: LayerOptions & { index: number },
): Promise<CommandResult> => {
  const { index, ...limits } = options
  if (step.type === 'copy' && os !== 'android') return copyIn(transport, os, step, limits)
  if (!isLayer(step)) return checked('The variables are not set', await runScript(transport, os, step, limits))
  let result: CommandResult
  try {
    result = await runScript(transport, os, step, limits)
  } catch (error) {
    if (!(error instanceof TimeoutError) || error.code !== 'command_timeout') throw error
    // It was ended by SIGKILL.
    const output = { ...(error.output ?? { stdout: '', stderr: '' }), exitCode: 128 + 9 }
    throw failed(`took longer than ${limits.timeoutMs} ms; allow more with "timeoutMs"`, {
      index,
      layer: step,
      result: output,
      cause: error,
    })
  }
  if (result.exitCode === 0) return result
  throw failed(`ended with ${result.exitCode}`, { index, layer: step, result })
}

const runScript = (
  transport: Transport,
  os: OsType,
  step: BuildStep,
  options: LayerOptions,
): Promise<CommandResult> => {
  const limits = { timeoutMs: layerTimeoutMs, ...options }
  if (os === 'android') return runDeviceStep(transport, step, limits)
  return shellOf(transport).run(stepCommand(step, os), limits)
}

/** Files go first where the server's user may write, then to their place as the administrator. */
const copyIn = async (
  transport: Transport,
  os: BuiltOs,
  { src, dst }: Extract<BuildStep, { type: 'copy' }>,
  options: CallOptions,
): Promise<CommandResult> => {
  const limits = { timeoutMs: layerTimeoutMs, ...options }
  const shell = shellOf(transport)
  const { basename, resolve } = builtin('path')
  // `..` is a name that must not be put behind another folder.
  const name = basename(resolve(src)) || 'files'
  const files = filesOf(transport)
  if (os === 'windows') {
    await files.upload(src, /[\\/]$/.test(dst) ? `${dst}${name}` : dst, limits)
    return { stdout: '', stderr: '', exitCode: 0 }
  }
  const made = await shell.run(`mktemp -d "\${TMPDIR:-/tmp}/backlot-copy.XXXXXX"`, { ...limits, check: true })
  const folder = made.stdout.trim()
  try {
    const staged = `${folder}/${name}`
    await files.upload(src, staged, limits)
    return checked(`"${src}" is not copied to "${dst}"`, await shell.run(commandOf(place(staged, dst), os), limits))
  } finally {
    // Where the computer is gone, so is the folder; what was thrown before says why.
    await shell.run(commandOf(`rm -rf -- ${shellText(folder)}`, os)).catch(() => undefined)
  }
}

/** Puts what is staged into its place, as the administrator's own. */
const place = (staged: string, dst: string): string => {
  const [from, to] = [shellText(staged), shellText(dst)]
  const above = shellText(dst.slice(0, dst.replace(/\/+$/, '').lastIndexOf('/')) || '/')
  const into = dst.endsWith('/') ? `mkdir -p ${to}` : `mkdir -p ${above}`
  return [
    `chown -R "$(id -u):$(id -g)" ${from}`,
    `if [ -d ${from} ]; then mkdir -p ${to}; cp -RPp ${from}/. ${to}; else ${into}; cp -Pp ${from} ${to}; fi`,
  ].join('\n')
}

/** The result of what must succeed; throws `command_failed`. */
const checked = (what: string, result: CommandResult): CommandResult => {
  if (result.exitCode === 0) return result
  const advice = 'Let the server run as the administrator, or its user use sudo without a password.'
  throw new CommandError(`${what}: ${result.stderr.trim() || `ended with ${result.exitCode}`}. ${advice}`, result)
}

const failed = (
  how: string,
  what: { index: number; layer: Layer; result: CommandResult; cause?: unknown },
): LayerError => {
  const last = what.result.stderr.trimEnd().split('\n').at(-1) ?? ''
  const said = last === '' ? '' : `: ${last}`
  return new LayerError(`Layer ${what.index + 1} (${what.layer.type}) ${how}${said}. "result" holds its output.`, what)
}
