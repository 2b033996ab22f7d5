/** The platforms that have an executable and a native core. */

/** A platform, in the words of Node and of npm. */
export interface Platform {
  /** The end of the names of its packages. */
  readonly name: string
  readonly os: 'linux'
  readonly cpu: 'x64'
  readonly libc: 'glibc'
  /** Its name for the Rust compiler. */
  readonly target: string
}

/** One row for each platform that is built. */
export const platforms: readonly Platform[] = [
  { name: 'linux-x64-gnu', os: 'linux', cpu: 'x64', libc: 'glibc', target: 'x86_64-unknown-linux-gnu' },
]

/** The platform of this process, whichever C library it has; undefined where there is none for it. */
export const platformHere = (): Platform | undefined =>
  platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch)

/** The package with the executable of a platform. */
export const executablePackage = ({ name }: Platform): string => `@backlot/cli-${name}`

/** The package with the native core of a platform. */
export const nativePackage = ({ name }: Platform): string => `@backlot/native-${name}`
