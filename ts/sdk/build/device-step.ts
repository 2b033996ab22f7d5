/** Steps of a build on an Android device, through the computer server that has its adb. */
import type { CallOptions, CommandResult } from '../basics.ts'
import { withDeadline } from '../deadline.ts'
import { InvalidArgumentError, UnsupportedError } from '../errors.ts'
import type { BuildStep } from '../image/layer.ts'
import { filesOf } from '../interfaces/files.ts'
import { shellOf } from '../interfaces/shell.ts'
import { node } from '../node.ts'
import type { Transport } from '../transports/transport.ts'
import type { LayerOptions } from './layer-options.ts'

const carriedOut: readonly BuildStep['type'][] = ['apk_install', 'pwa_install', 'run', 'copy']

/** Throws `unsupported` for what is not carried out on a device. */
export const checkDeviceStep = ({ type }: BuildStep): void => {
  if (carriedOut.includes(type)) return
  throw new UnsupportedError(`"${type}" is not carried out on an Android device; ${carriedOut.join(', ')} are.`, {
    data: { type, os: 'android' },
  })
}

/** Runs a step; a layer that Android refuses has a code other than 0. */
export const runDeviceStep = async (
  transport: Transport,
  step: BuildStep,
  options: LayerOptions,
): Promise<CommandResult> => {
  checkDeviceStep(step)
  if (step.type === 'apk_install') return installApps(transport, step.packages, options)
  if (step.type === 'pwa_install') return installWebApp(transport, step, options)
  if (step.type === 'run') return shellOf(transport).run(step.command, options)
  if (step.type === 'copy') await filesOf(transport).upload(step.src, step.dst, options)
  return { stdout: '', stderr: '', exitCode: 0 }
}

/** Makes an app of a web app and installs it; what the owner of its site needs to know begins the output. */
const installWebApp = async (
  transport: Transport,
  layer: Extract<BuildStep, { type: 'pwa_install' }>,
  options: LayerOptions,
): Promise<CommandResult> => {
  const { withWebApp } = await node('"pwa_install"', () => import('./web-app/web-app.ts'))
  return withWebApp(layer, options, async ({ path, note }) => {
    options.onNote?.(note)
    const installed = await installApp(transport, layer.manifest_url, path, options)
    return { ...installed, stdout: `${note}${installed.stdout}` }
  })
}

/** Brings APK files to the device and installs them, one after the other, until one is refused. */
const installApps = async (
  transport: Transport,
  apks: readonly string[],
  options: CallOptions,
): Promise<CommandResult> => {
  const said = { stdout: '', stderr: '', exitCode: 0 }
  for (const apk of apks) {
    const { stdout, stderr, exitCode } = await installApp(transport, apk, apk, options)
    said.stdout += stdout
    said.stderr += stderr
    said.exitCode = exitCode
    if (exitCode !== 0) return said
  }
  return said
}

/** Brings a file to the device and installs it; the output calls it by `name`. */
const installApp = async (
  transport: Transport,
  name: string,
  apk: string,
  options: CallOptions,
): Promise<CommandResult> => {
  const path = `/data/local/tmp/backlot-${crypto.randomUUID()}.apk`
  await bring(transport, apk, path, options)
  // Android says of some refusals nothing by its code.
  const install = `said=$(pm install -r -t ${path} 2>&1); status=$?; rm -f ${path}; printf '%s\\n' "$said"
case $said in *Success*) exit $status ;; *) exit $((status == 0 ? 1 : status)) ;; esac`
  const { stdout, stderr, exitCode } = await shellOf(transport).run(install, options)
  return { stdout, stderr: exitCode === 0 ? stderr : `${stderr}"${name}" is not installed: ${stdout}`, exitCode }
}

/** A file of the caller's, or of an address, to the device. */
const bring = async (transport: Transport, from: string, path: string, options: CallOptions): Promise<void> => {
  const files = filesOf(transport)
  if (!/^https?:\/\//.test(from)) return files.upload(from, path, options)
  await withDeadline(options, `Fetching "${from}"`, async (signal) => {
    const answer = await fetch(from, { signal })
    if (!answer.ok) throw new InvalidArgumentError('invalid_argument', `"${from}" answers ${answer.status}.`)
    await files.write(path, new Uint8Array(await answer.arrayBuffer()), { ...options, signal })
  })
}
