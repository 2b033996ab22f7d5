/** What a sandbox starts from. */
import type { ImageKind, OsType } from '../basics.ts'
import { InvalidArgumentError } from '../errors.ts'
import { cloudInit } from './cloud-init.ts'
import {
  aPort,
  checkedDict,
  checkMacosVersion,
  dictOf,
  type ImageDict,
  imageKinds,
  osTypes,
  placedSteps,
} from './dict.ts'
import { aText, type FieldKind, oneOf, quotedValue } from './field.ts'
import type { BuildStep, Layer } from './layer.ts'
import { checkedStep, fitsOs, isLayer } from './layers.ts'

/** `ubuntu`, the usual version of the distribution and `container` unless given. */
export interface LinuxOptions {
  distro?: string
  version?: string
  kind?: ImageKind
}

/** `windows` and `vm` unless given; `agentType` names the server inside that takes commands, where it is not Backlot's. */
export interface FromFileOptions {
  osType?: OsType
  kind?: ImageKind
  agentType?: string
}

/** How a web app becomes an Android app. */
export interface PwaOptions {
  /** @default the manifest's host, reversed */
  packageName?: string
  /** Path of the keystore to sign with, whose fingerprint the site's asset links name. @default one made and cached */
  keystore?: string
  /** @default 'android' */
  keystoreAlias?: string
  /** @default 'android' */
  keystorePassword?: string
}

/** The version that a distribution of Linux has where none is named. */
const usualVersions: Readonly<Record<string, string>> = { ubuntu: '24.04', debian: '12' }

/** What a sandbox starts from: an immutable recipe, whose methods each return a new one. */
export class Image {
  readonly osType: OsType
  /** `registry` or `local` where it is not known. */
  readonly distro: string
  readonly version: string
  /** `null`: settled once the image is fetched, or by the runtime. */
  readonly kind: ImageKind | null
  readonly #dict: ImageDict
  readonly #isDistroAsked: boolean

  private constructor(dict: ImageDict, isDistroAsked = true) {
    this.osType = dict.os_type
    this.distro = dict.distro
    this.version = dict.version
    this.kind = dict.kind
    this.#dict = dict
    this.#isDistroAsked = isDistroAsked
    Object.freeze(this)
  }

  /**
   * Whether a distribution or its version was named. Where none was, `distro` is `ubuntu`, and a runtime that has
   * another one differs from nothing that was asked.
   */
  get isDistroAsked(): boolean {
    return this.#isDistroAsked
  }

  /** A Linux desktop, which each runtime starts as it does so quickest. @param distro Defaults to `ubuntu`. */
  static desktop(distro?: string): Image {
    return Image.#linux({ distro }, null)
  }

  /** A Linux desktop. */
  static linux(options?: LinuxOptions): Image
  /** A Linux desktop, by position. */
  static linux(distro: string, version?: string, kind?: ImageKind): Image
  static linux(first: string | LinuxOptions = {}, second?: string, third?: ImageKind): Image {
    const given = typeof first === 'string' ? { distro: first, version: second, kind: third } : first
    return Image.#linux(given, given.kind ?? 'container')
  }

  /** A macOS VM. @param version `26` (or `tahoe`, the default), `15` (or `sequoia`). */
  static macos(version = '26'): Image {
    checkMacosVersion(version)
    return Image.#new('macos', 'macos', version, 'vm')
  }

  /** A Windows VM. @param version Defaults to `11`. */
  static windows(version = '11'): Image {
    return Image.#new('windows', 'windows', version, 'vm')
  }

  /** An Android emulator. @param version Defaults to `14`. */
  static android(version = '14'): Image {
    return Image.#new('android', 'android', version, 'vm')
  }

  /** An image of a registry, or of this machine's store, such as `ghcr.io/acme/desktop:1`. */
  static fromRegistry(ref: string): Image {
    check('ref', aText, ref)
    return Image.#new('linux', 'registry', 'latest', null, { registry: ref })
  }

  /** A disk (qcow2, vhdx, raw, img), an installer (iso) or a zip of one, by local path or http address. */
  static fromFile(path: string, { osType = 'windows', kind = 'vm', agentType }: FromFileOptions = {}): Image {
    check('path', aText, path)
    check('osType', oneOf(osTypes), osType)
    if (agentType !== undefined) check('agentType', aText, agentType)
    const more = { disk_path: path, ...(agentType !== undefined && { agent_type: agentType }) }
    return Image.#new(osType, 'local', 'local', kind, more)
  }

  /** The image that `toDict` described; throws `invalid_argument` where a field is missing or wrong. */
  static fromDict(data: ImageDict): Image {
    return new Image(structuredClone(checkedDict(data)))
  }

  /** Installs Debian packages; Linux only: elsewhere it throws `layer_not_for_os`, as do its siblings. */
  aptInstall(...packages: string[]): Image {
    return this.#with({ type: 'apt_install', packages })
  }

  /** Installs Homebrew packages; macOS only. */
  brewInstall(...packages: string[]): Image {
    return this.#with({ type: 'brew_install', packages })
  }

  /** Installs Chocolatey packages; Windows only. */
  chocoInstall(...packages: string[]): Image {
    return this.#with({ type: 'choco_install', packages })
  }

  /** Installs packages by `winget`; Windows only. */
  wingetInstall(...packages: string[]): Image {
    return this.#with({ type: 'winget_install', packages })
  }

  /** Installs APK files by local path or address; Android only. */
  apkInstall(...apkPaths: string[]): Image {
    return this.#with({ type: 'apk_install', packages: apkPaths })
  }

  /** Makes an app of a web app, signs and installs it; Android only. */
  pwaInstall(manifestUrl: string, options: PwaOptions = {}): Image {
    const { packageName, keystore, keystoreAlias = 'android', keystorePassword = 'android' } = options
    return this.#with({
      type: 'pwa_install',
      manifest_url: manifestUrl,
      ...(packageName !== undefined && { package_name: packageName }),
      ...(keystore !== undefined && { keystore }),
      keystore_alias: keystoreAlias,
      keystore_password: keystorePassword,
    })
  }

  /** Installs Python packages by `uv` in an environment that is on PATH. */
  uvInstall(...packages: string[]): Image {
    return this.#with({ type: 'uv_install', packages })
  }

  /** Installs Python packages by `pip`. */
  pipInstall(...packages: string[]): Image {
    return this.#with({ type: 'pip_install', packages })
  }

  /** Runs a shell command at build time, as the administrator; PowerShell on Windows. */
  run(command: string): Image {
    return this.#with({ type: 'run', command })
  }

  /** Sets environment variables from here on, at build time and later. */
  env(variables: Readonly<Record<string, string>>): Image {
    return this.#with({ type: 'env', variables })
  }

  /** Copies a local file or folder into the image. */
  copy(src: string, dst: string): Image {
    return this.#with({ type: 'copy', src, dst })
  }

  /** Declares a TCP port that the sandbox serves. */
  expose(port: number): Image {
    check('port', aPort, port)
    return this.#changed({ ...this.#dict, ports: [...(this.#dict.ports ?? []), port] })
  }

  /** The image as plain data, without loss. */
  toDict(): ImageDict {
    return structuredClone(this.#dict)
  }

  /** The build as user data: `#cloud-config` on Linux, PowerShell on Windows, a shell script on macOS. */
  toCloudInit(): string {
    return cloudInit(this.#dict)
  }

  static #linux(
    { distro, version }: { distro?: string | undefined; version?: string | undefined },
    kind: ImageKind | null,
  ): Image {
    const name = distro ?? 'ubuntu'
    const isAsked = distro !== undefined || version !== undefined
    const image = Image.#new('linux', name, version ?? usualVersions[name] ?? 'latest', kind)
    return isAsked ? image : new Image(image.#dict, false)
  }

  static #new(
    osType: OsType,
    distro: string,
    version: string,
    kind: ImageKind | null,
    more: Pick<ImageDict, 'registry' | 'disk_path' | 'agent_type'> = {},
  ): Image {
    check('distro', aText, distro)
    check('version', aText, version)
    check('kind', oneOf([...imageKinds, null]), kind)
    return new Image({ os_type: osType, distro, version, kind, layers: [], ...more })
  }

  #with(given: BuildStep): Image {
    fitsOs(given.type, this.osType)
    const step = checkedStep(given, '', this.osType)
    const dict = this.#dict
    if (isLayer(step))
      return this.#changed(dictOf({ ...dict, layers: [...dict.layers, step] as Layer[] }, placedSteps(dict)))
    return this.#changed(dictOf(dict, [...placedSteps(dict), { ...step, after: dict.layers.length }]))
  }

  #changed(dict: ImageDict): Image {
    return new Image(dict, this.#isDistroAsked)
  }
}

const check = (name: string, kind: FieldKind, value: unknown): void => {
  if (kind.fits(value)) return
  throw new InvalidArgumentError('invalid_argument', `"${name}" must be ${kind.must}, not ${quotedValue(value)}.`)
}
