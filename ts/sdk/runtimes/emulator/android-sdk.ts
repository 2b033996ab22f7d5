/** The Android SDK of this machine: where it is, what of it is there, and what is installed with the user's consent. */
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { UnsupportedError } from '../../errors.ts'
import { unavailable } from '../absent.ts'
import { finish, lastLines } from './programs.ts'

/** What stands in the way of emulators, and what helps. */
export interface Obstacle {
  readonly reason: string
  readonly remedy: string
}

/** An SDK with command-line tools; the programs are paths, whether or not they are there yet. */
export interface AndroidSdk {
  readonly root: string
  readonly adb: string
  readonly emulator: string
  readonly avdmanager: string
  readonly sdkmanager: string
}

/** The version of Android's interface by that of Android, as people say it. */
const apis: Readonly<Record<string, number>> = { 8: 26, 9: 28, 10: 29, 11: 30, 12: 31, 13: 33, 14: 34, 15: 35, 16: 36 }

/** The kinds of system images, best first: those with Google's services let a program be root. */
const flavours = ['google_apis', 'default', 'google_apis_playstore']

const suffix = process.platform === 'win32' ? '.exe' : ''
const script = process.platform === 'win32' ? '.bat' : ''

/** The folder that is named for an SDK, by the caller or the environment. */
const namedFolder = (root: string | undefined): string | undefined => {
  const { ANDROID_HOME, ANDROID_SDK_ROOT } = process.env
  return [root, ANDROID_HOME, ANDROID_SDK_ROOT].find((each) => each !== undefined && each !== '')
}

/** The folder of the SDK that `root` names, else the environment, else of one at a usual place; undefined where there is none. */
export const sdkFolder = (root: string | undefined): string | undefined => {
  const home = homedir()
  const { LOCALAPPDATA = join(home, 'AppData/Local') } = process.env
  const usual = ['Android/Sdk', 'Library/Android/sdk'].map((folder) => join(home, folder))
  const named = namedFolder(root)
  const places = named === undefined ? [...usual, join(LOCALAPPDATA, 'Android/Sdk'), '/opt/android'] : [named]
  return places.find((place) => existsSync(place))
}

/** The SDK of `sdkFolder` with its command-line tools. */
export const findSdk = (root: string | undefined): AndroidSdk | Obstacle => {
  const found = sdkFolder(root)
  const remedy =
    'Install the command-line tools (https://developer.android.com/studio#command-line-tools-only) into its folder `cmdline-tools/latest`, and give that of the SDK with `sdkRoot` or ANDROID_HOME.'
  if (found === undefined) {
    const named = namedFolder(root)
    const where = named === undefined ? 'at none of the usual places' : `not at "${named}"`
    return { reason: `The Android SDK is ${where}.`, remedy }
  }
  const tools = toolsIn(found)
  if (tools === undefined) return { reason: `The Android SDK at "${found}" has no command-line tools.`, remedy }
  return {
    root: found,
    adb: join(found, 'platform-tools', `adb${suffix}`),
    emulator: join(found, 'emulator', `emulator${suffix}`),
    avdmanager: join(tools, `avdmanager${script}`),
    sdkmanager: join(tools, `sdkmanager${script}`),
  }
}

/** The folder of the command-line tools, which may bear a version instead of `latest`, or be on PATH. */
const toolsIn = (root: string): string | undefined => {
  const base = join(root, 'cmdline-tools')
  const versions = existsSync(base) ? readdirSync(base).toSorted().reverse() : []
  const folders = ['latest', ...versions].map((version) => join(base, version, 'bin'))
  const onPath = (process.env.PATH ?? '').split(delimiter)
  return [...folders, ...onPath].find((folder) => existsSync(join(folder, `avdmanager${script}`)))
}

/** Whether emulators are quick on this machine, as the emulator itself says it; true where it is not installed yet. */
export const checkAcceleration = async ({ emulator }: AndroidSdk, signal?: AbortSignal): Promise<true | Obstacle> => {
  if (!existsSync(emulator)) return true
  const { status, output } = await finish([emulator, '-accel-check'], { signal })
  if (status === 0) return true
  return {
    reason: `The emulator says: ${lastLines(output)}.`,
    remedy: 'Turn virtualization on, and let this user use it (on Linux the group of /dev/kvm).',
  }
}

/** The package of the system image for a version of Android; one that is installed, where there is one. Throws `unsupported`. */
export const imageFor = ({ root }: AndroidSdk, version: string): string => {
  const api = apis[version]
  if (api === undefined) {
    const known = Object.keys(apis).join(', ')
    throw new UnsupportedError(`There is no emulator of Android "${version}"; the runtime "emulator" has ${known}.`)
  }
  const abi = process.arch === 'arm64' ? 'arm64-v8a' : 'x86_64'
  const packages = flavours.map((flavour) => `system-images;android-${api};${flavour};${abi}`)
  return packages.find((each) => isInstalled(root, each)) ?? String(packages[0])
}

const isInstalled = (root: string, name: string): boolean => existsSync(join(root, ...name.split(';')))

/** Installs the packages that are missing. Throws `runtime_unavailable` where that needs a consent that was not given. */
export const installMissing = async (
  sdk: AndroidSdk,
  packages: readonly string[],
  {
    acceptLicenses,
    signal,
    onInstall,
  }: { acceptLicenses: boolean; signal?: AbortSignal | undefined; onInstall(what: string): void },
): Promise<void> => {
  const missing = packages.filter((each) => !isInstalled(sdk.root, each))
  if (missing.length === 0) return
  const shown = missing.join(', ')
  const command = `${sdk.sdkmanager} ${missing.map((each) => `'${each}'`).join(' ')}`
  if (!acceptLicenses) {
    throw unavailable('emulator', {
      reason: `The Android SDK at "${sdk.root}" lacks ${shown}.`,
      remedy: `Install them with \`${command}\`, or agree to the licences of the Android SDK with \`runtimes.emulator({ acceptLicenses: true })\`.`,
    })
  }
  onInstall(shown)
  // One answer for each licence; it takes as many as it asks for.
  const { output } = await finish([sdk.sdkmanager, `--sdk_root=${sdk.root}`, ...missing], {
    input: 'y\n'.repeat(50),
    signal,
  })
  const failed = missing.filter((each) => !isInstalled(sdk.root, each))
  if (failed.length === 0) return
  throw unavailable('emulator', {
    reason: `${failed.join(', ')} could not be installed: ${lastLines(output)}.`,
    remedy: `Install it with \`${command}\`.`,
  })
}

/** Where programs of the SDK find each other. */
export const sdkVariables = ({ root, adb }: AndroidSdk): Record<string, string> => ({
  ANDROID_HOME: root,
  ANDROID_SDK_ROOT: root,
  PATH: `${dirname(adb)}${delimiter}${process.env.PATH ?? ''}`,
})
