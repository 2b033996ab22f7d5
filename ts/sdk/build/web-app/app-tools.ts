/** What packs and signs applications: of the Android SDK, or on PATH as Debian's packages have it, and Java's keytool. */
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Obstacle, sdkFolder } from '../../runtimes/emulator/android-sdk.ts'

/** Paths of programs, and of the file with Android's own resources. */
export interface AppTools {
  readonly aapt: string
  readonly zipalign: string
  readonly apksigner: string
  readonly keytool: string
  readonly framework: string
}

/** The packages of the Android SDK that have them. */
export const appToolPackages = ['build-tools;34.0.0', 'platforms;android-34'] as const

const suffix = process.platform === 'win32' ? '.exe' : ''
const script = process.platform === 'win32' ? '.bat' : ''

/** Where Debian's package `android-framework-res` has it. */
const debianFramework = '/usr/share/android-framework-res/framework-res.apk'

/** All of them, or what is missing; `sdkRoot` is an Android SDK, else the one that is found. */
export const findAppTools = (sdkRoot?: string): AppTools | Obstacle => {
  const sdk = sdkFolder(sdkRoot)
  const inSdk = sdk === undefined ? [] : newestFirst(join(sdk, 'build-tools'))
  const onPath = (process.env.PATH ?? '').split(delimiter)
  const programs = [`aapt${suffix}`, `zipalign${suffix}`, `apksigner${script}`]
  const folder = [...inSdk, ...onPath].find((each) => programs.every((name) => existsSync(join(each, name))))
  const platforms = sdk === undefined ? [] : newestFirst(join(sdk, 'platforms'))
  const framework = [...platforms.map((each) => join(each, 'android.jar')), debianFramework].find(existsSync)
  const { JAVA_HOME } = process.env
  const keytool = [...(JAVA_HOME ? [join(JAVA_HOME, 'bin')] : []), ...onPath]
    .map((each) => join(each, `keytool${suffix}`))
    .find(existsSync)
  if (folder === undefined || framework === undefined || keytool === undefined) {
    const missing = [
      folder === undefined && 'aapt, zipalign and apksigner',
      framework === undefined && "Android's android.jar",
      keytool === undefined && "Java's keytool",
    ].filter((each) => each !== false)
    return {
      reason: `An app of a web app is packed and signed by tools of the Android SDK and of Java, of which ${missing.join(' and ')} are missing.`,
      remedy: `Install them with \`sdkmanager ${appToolPackages.map((each) => `'${each}'`).join(' ')}\` and a Java, or on Debian with \`apt install aapt android-framework-res apksigner zipalign default-jre-headless\`.`,
    }
  }
  const [aapt, zipalign, apksigner] = programs.map((name) => join(folder, name)) as [string, string, string]
  return { aapt, zipalign, apksigner, keytool, framework }
}

/** The folders in a folder, those of later versions first. */
const newestFirst = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }))
    .map((name) => join(folder, name))
