/** `adb` and `adbd` as Debian has them, unpacked and never installed. */
import { join } from 'node:path'
import { librariesIn, unpacked } from './unpacked.ts'

/** What the two programs are made of; what else they need every Debian has. */
const packages = [
  'adb',
  'adbd',
  'android-libbase',
  'android-libboringssl',
  'android-libcutils',
  'android-liblog',
  'android-libziparchive',
  'libbrotli1',
  'liblz4-1',
  'libprotobuf32',
  'libusb-1.0-0',
  'libzstd1',
]

/** Where they stand. */
export interface AdbPrograms {
  readonly adb: string
  readonly adbd: string
  /** Folders of their libraries, for `LD_LIBRARY_PATH`. */
  readonly libraries: string
}

/** The programs; a machine that is no Debian, or reaches no archive, is told so. */
export const adbPrograms = async (): Promise<AdbPrograms> => {
  const folder = await unpacked('adb', packages, { fromBackports: true })
  const libraries = librariesIn(folder)
  return {
    adb: join(folder, 'usr/lib/android-sdk/platform-tools/adb'),
    adbd: join(folder, 'usr/lib/android-sdk/platform-tools/adbd'),
    libraries: `${libraries}/android:${libraries}`,
  }
}

/** Android's own small programs, as Debian has them. */
export const toyboxProgram = async (): Promise<string> => join(await unpacked('toybox', ['toybox']), 'bin/toybox')
