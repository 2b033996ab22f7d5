/** A folder like that of the Android SDK, with Debian's adb and the stand-ins of the emulator and of the managers. */
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { adbPrograms } from './adb-programs.ts'

const fixtures = join(import.meta.dir, 'fixtures/fake-sdk')

/** Makes it at a path; what was there is removed. It runs wherever it is copied to. */
export const makeFakeSdk = async (sdk: string): Promise<void> => {
  rmSync(sdk, { recursive: true, force: true })
  for (const folder of ['emulator', 'platform-tools', 'cmdline-tools/latest/bin', 'fake/libraries']) {
    mkdirSync(join(sdk, folder), { recursive: true })
  }
  mkdirSync(join(sdk, 'system-images/android-30/google_apis/x86_64'), { recursive: true })
  const { adb, adbd, libraries } = await adbPrograms()
  for (const folder of libraries.split(':').toReversed()) {
    for (const name of readdirSync(folder).filter((each) => each.includes('.so'))) {
      cpSync(join(folder, name), join(sdk, 'fake/libraries', name), { dereference: true })
    }
  }
  const wrap = (program: string, name: string) => {
    copyFileSync(program, join(sdk, 'fake', `real-${name}`))
    const path = join(sdk, name === 'adb' ? 'platform-tools' : 'fake', name)
    const text = '#!/bin/sh\nfake=$(dirname "$(readlink -f "$0")")/../fake\n'
    writeFileSync(path, `${text}LD_LIBRARY_PATH=$fake/libraries exec "$fake/real-${name}" "$@"\n`)
    chmodSync(path, 0o755)
  }
  wrap(adb, 'adb')
  wrap(adbd, 'adbd')
  for (const name of ['avdmanager', 'sdkmanager']) {
    copyFileSync(join(fixtures, name), join(sdk, 'cmdline-tools/latest/bin', name))
  }
  const { success, logs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'fake-emulator/main.ts')],
    target: 'bun',
    compile: { outfile: join(sdk, 'emulator/emulator'), autoloadDotenv: false, autoloadBunfig: false },
  })
  if (!success) throw new Error(`the fake emulator was not built: ${logs.join('\n')}`)
}
