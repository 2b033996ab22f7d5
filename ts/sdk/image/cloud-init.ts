/** An image's build as user data, which a new machine runs at its first start. */
import { UnsupportedError } from '../errors.ts'
import { type ImageDict, stepsOf } from './dict.ts'
import { type BuiltOs, scriptOf } from './layers.ts'
import * as macos from './macos.ts'
import * as powershell from './powershell.ts'
import { yamlText } from './quote.ts'
import * as shell from './shell.ts'

/** How a system takes a build: its steps in order, each with what it is. */
const documents: Readonly<Record<BuiltOs, (steps: readonly Titled[], ports: readonly number[]) => string>> = {
  linux: (steps, ports) => {
    // One script runs them all (cloud-init, `runcmd`), so what the first sets holds for those after it.
    const all = [
      `set -e\numask 022\nexport HOME="\${HOME:-/root}"`,
      ...steps.map((step) => posixStep(step, shell.profileFile)),
      ...(ports.length > 0 ? [shell.openPorts(ports)] : []),
    ]
    return `#cloud-config\nruncmd:\n${all.map((each) => `  - ${yamlText(each, 4)}\n`).join('')}`
  },
  macos: (steps, ports) => {
    const opened = ports.length > 0 ? [`# macOS guards programs, not ports; served here: ${ports.join(', ')}`] : []
    const all = [
      '#!/bin/sh',
      'set -e',
      'umask 022',
      ...steps.map((step) => posixStep(step, macos.profileFile)),
      ...opened,
    ]
    return `${all.join('\n')}\n`
  },
  windows: (steps, ports) => {
    const all = [
      '#ps1_sysnative',
      powershell.prelude,
      ...steps.map(({ title, script }) => `Write-Output '${title}'\n${powershell.step(script)}`),
      ...(ports.length > 0 ? [powershell.openPorts(ports)] : []),
    ]
    return `${all.join('\n')}\n`
  },
}

interface Titled {
  readonly title: string
  readonly script: string
}

/** The build of an image as user data; throws `unsupported` where its system takes none. */
export const cloudInit = (dict: ImageDict): string => {
  const os = dict.os_type
  if (os === 'android') {
    throw new UnsupportedError('Android takes no user data; the runtime builds such an image once the device runs.')
  }
  const steps = stepsOf(dict)
  const titled = steps.map((step, index): Titled => {
    const script = scriptOf(step, os)
    if (script === undefined) throw new UnsupportedError(`"${step.type}" is not carried out on ${os}.`)
    return { title: `backlot: step ${index + 1} of ${steps.length}: ${step.type}`, script }
  })
  return documents[os](titled, [...new Set(dict.ports)])
}

/** Says what begins, then does it in a shell of its own that knows the variables by then. */
const posixStep = ({ title, script }: Titled, profile: string): string =>
  [`echo '${title}'`, '(', shell.readVariables(profile), script, ')'].join('\n')
