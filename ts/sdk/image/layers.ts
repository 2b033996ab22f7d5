/** The kinds of build steps: one row each, from which builders, checks, gates and the scripts of a build are read. */
import type { OsType } from '../basics.ts'
import { InvalidArgumentError } from '../errors.ts'
import { aNumber, aText, type FieldKind, fieldsFault, isWritable, oneOf, quotedValue } from './field.ts'
import type { BuildStep, Installer, Layer } from './layer.ts'
import * as macos from './macos.ts'
import * as powershell from './powershell.ts'
import * as shell from './shell.ts'

/** Systems that are built by a script. */
export type BuiltOs = Exclude<OsType, 'android'>

type StepOf<Kind extends BuildStep['type']> = Kind extends `${Installer}_install`
  ? { readonly type: Kind; readonly packages: readonly string[] }
  : Extract<BuildStep, { readonly type: Kind }>

interface StepKind<Kind extends BuildStep['type']> {
  /** Where it can be; everywhere when absent. */
  readonly os?: readonly OsType[]
  readonly fields: Readonly<Record<string, FieldKind>>
  /** What is wrong with fields that each are as they must be. */
  readonly fault?: (step: StepOf<Kind>, osType: OsType) => string | undefined
  /** What does it, in the language of the system: a POSIX shell, or PowerShell on Windows. */
  readonly script: { readonly [Os in BuiltOs]?: (step: StepOf<Kind>) => string }
}

const packages: FieldKind = {
  must: 'a list of names, none of which begins with "-"',
  fits: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => aText.fits(each) && !each.startsWith('-')),
}
const variables: FieldKind = {
  must: 'an object of names (A-Z, a-z, 0-9, _) and texts',
  fits: (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).every(
      ([name, each]) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && typeof each === 'string' && isWritable(each),
    ),
}
const text = { ...aText, optional: true } as const

/** The table. A kind without a script for a system is carried out by the runtime that starts such a system. */
export const stepKinds: { readonly [Kind in BuildStep['type']]: StepKind<Kind> } = {
  apt_install: {
    os: ['linux'],
    fields: { packages },
    script: { linux: (step) => shell.aptInstall(step.packages) },
  },
  brew_install: {
    os: ['macos'],
    fields: { packages },
    script: { macos: (step) => macos.brewInstall(step.packages) },
  },
  choco_install: {
    os: ['windows'],
    fields: { packages },
    script: { windows: (step) => powershell.chocoInstall(step.packages) },
  },
  winget_install: {
    os: ['windows'],
    fields: { packages },
    script: { windows: (step) => powershell.wingetInstall(step.packages) },
  },
  apk_install: { os: ['android'], fields: { packages }, script: {} },
  pwa_install: {
    os: ['android'],
    fields: {
      manifest_url: {
        must: 'an http or https address',
        fits: (value) => typeof value === 'string' && /^https?:\/\/[^/]/.test(value) && isWritable(value),
      },
      package_name: text,
      keystore: text,
      keystore_alias: aText,
      keystore_password: aText,
      builder: { ...oneOf(['bubblewrap', 'pwa2apk']), optional: true },
      push_timeout: { ...aNumber, optional: true },
    },
    script: {},
  },
  uv_install: {
    fields: { packages },
    script: {
      linux: (step) => shell.uvInstall(step.packages, shell.keepPythonOnPath),
      macos: (step) => shell.uvInstall(step.packages, macos.keepPythonOnPath),
      windows: (step) => powershell.uvInstall(step.packages),
    },
  },
  pip_install: {
    fields: { packages },
    script: {
      linux: (step) => shell.pipInstall(step.packages),
      macos: (step) => shell.pipInstall(step.packages),
      windows: (step) => powershell.pipInstall(step.packages),
    },
  },
  run: {
    fields: { command: aText },
    script: {
      linux: (step) => shell.run(step.command),
      macos: (step) => shell.run(step.command),
      windows: (step) => powershell.run(step.command),
    },
  },
  env: {
    fields: { variables },
    fault: (step, osType) => {
      const [name] = Object.entries(step.variables).find(([, value]) => value === '') ?? []
      return osType === 'windows' && name !== undefined
        ? `"${name}" is empty, which no variable is on Windows`
        : undefined
    },
    script: {
      linux: (step) => shell.keepVariables(step.variables),
      macos: (step) => macos.keepVariables(step.variables),
      windows: (step) => powershell.keepVariables(step.variables),
    },
  },
  copy: {
    fields: { src: aText, dst: aText },
    fault: ({ dst }, osType) =>
      (osType === 'windows' ? /^(?:[A-Za-z]:)?[\\/]/ : /^\//).test(dst)
        ? undefined
        : `"dst" must be an absolute path, not "${dst}"`,
    script: {
      linux: (step) => shell.copy(step.src, step.dst),
      macos: (step) => shell.copy(step.src, step.dst),
      windows: (step) => powershell.copy(step.src, step.dst),
    },
  },
}

/** Whether a step is one of `layers`. */
export const isLayer = (step: BuildStep): step is Layer => step.type !== 'env' && step.type !== 'copy'

/** Throws `layer_not_for_os` with the text that programs match, where such a step cannot be in images of that system. */
export const fitsOs = (type: BuildStep['type'], osType: OsType): void => {
  const { os } = stepKinds[type]
  if (os === undefined || os.includes(osType)) return
  throw new InvalidArgumentError(
    'layer_not_for_os',
    `${type} is not supported on '${osType}' images. Supported OS types: ${os.join(', ')}`,
    { data: { type, osType } },
  )
}

/** The step that a value is, without what it shares with the caller; throws `invalid_argument` naming what is wrong. */
export const checkedStep = (value: unknown, where: string, osType: OsType): BuildStep => {
  const { type, ...fields } = (typeof value === 'object' && value !== null ? value : {}) as BuildStep
  if (typeof type !== 'string' || !Object.hasOwn(stepKinds, type)) {
    const known = Object.keys(stepKinds).join(', ')
    throw wrong(`"${where}type" must be one of ${known}; not ${quotedValue(type)}`)
  }
  const kind = rowOf(type)
  const fault = fieldsFault(fields, kind.fields, where) ?? kind.fault?.(value as BuildStep, osType)
  if (fault !== undefined) throw wrong(`${methodOf(type)}: ${fault}`)
  return structuredClone({ type, ...fields }) as BuildStep
}

/** The method of `Image` that adds a step of a kind. */
export const methodOf = (type: BuildStep['type']): string =>
  type.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** What does a step on a system; undefined where its runtime does it. */
export const scriptOf = (step: BuildStep, os: BuiltOs): string | undefined => rowOf(step.type).script[os]?.(step)

/** A row as it is for any step: who looks it up by the step's own kind gives it that step. */
interface AnyKind extends Pick<StepKind<'run'>, 'fields'> {
  readonly fault?: (step: BuildStep, osType: OsType) => string | undefined
  readonly script: { readonly [Os in BuiltOs]?: (step: BuildStep) => string }
}

const rowOf = (type: BuildStep['type']): AnyKind => stepKinds[type] as unknown as AnyKind

const wrong = (what: string): InvalidArgumentError => new InvalidArgumentError('invalid_argument', `${what}.`)
