/** Build steps as commands for a computer server's shell. */
import { shellText } from '@backlot/contract/text/shell-text'
import { toBase64 } from '../base64.ts'
import { UnsupportedError } from '../errors.ts'
import type { BuildStep } from '../image/layer.ts'
import { type BuiltOs, scriptOf } from '../image/layers.ts'
import * as macos from '../image/macos.ts'
import * as powershell from '../image/powershell.ts'
import * as shell from '../image/shell.ts'

/** A script as a command that carries it out, with what an image's variables are by then, as the administrator if it can. */
const commands: Readonly<Record<BuiltOs, (script: string) => string>> = {
  linux: (script) => posix(script, shell.profileFile),
  macos: (script) => posix(script, macos.profileFile),
  windows: (script) => {
    const text = `${powershell.prelude}\n${powershell.step(script)}`
    const units = new Uint8Array(text.length * 2)
    const view = new DataView(units.buffer)
    for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), true)
    return `powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -EncodedCommand ${toBase64(units)}`
  },
}

/** Whether a user may do without a password what only the administrator may is asked, not assumed. */
const posix = (script: string, profile: string): string => {
  const whole = ['umask 022', shell.readVariables(profile), script].join('\n')
  return [
    `script=${shellText(whole)}`,
    'if [ "$(id -u)" = 0 ] || ! sudo -n true 2>/dev/null; then exec sh -ec "$script"; fi',
    'exec sudo -n sh -ec "$script"',
  ].join('\n')
}

/** A script of the system's language as a command for its shell. */
export const commandOf = (script: string, os: BuiltOs): string => commands[os](script)

/** What a step runs. Throws `unsupported` where its system has no script for it. */
export const stepCommand = (step: BuildStep, os: BuiltOs): string => {
  const script = scriptOf(step, os)
  if (script !== undefined) return commandOf(script, os)
  throw new UnsupportedError(
    `"${step.type}" is not carried out by a computer server on ${os}; the runtime that starts the device does it.`,
    { data: { type: step.type, os } },
  )
}
