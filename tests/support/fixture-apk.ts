/** An Android application without code, made and signed by Debian's own tools. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Its package. */
export const fixturePackage = 'com.example.fixture'

const password = 'pass:fixture'

/** Makes it in a folder, which then also holds its keystore; gives its path. */
export const makeFixtureApk = (folder: string): string => {
  const [manifest, packed, aligned, signed, keys] = [
    'AndroidManifest.xml',
    'packed.apk',
    'aligned.apk',
    'signed.apk',
    'keys',
  ].map((name) => join(folder, name)) as [string, string, string, string, string]
  writeFileSync(
    manifest,
    `<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="${fixturePackage}" android:versionCode="1">
  <uses-sdk android:minSdkVersion="24" android:targetSdkVersion="30" />
  <application android:label="Fixture" android:hasCode="false" />
</manifest>`,
  )
  const framework = '/usr/share/android-framework-res/framework-res.apk'
  run('aapt', 'package', '-f', '-M', manifest, '-I', framework, '-F', packed)
  run('zipalign', '-f', '4', packed, aligned)
  const key = '-genkeypair -alias fixture -keyalg EC -groupname secp256r1 -validity 10000 -dname CN=fixture'.split(' ')
  run('keytool', ...quietly('-J-'), ...key, '-keystore', keys, '-storetype', 'PKCS12', '-storepass', password.slice(5))
  const signing = ['--v4-signing-enabled', 'false', '--ks', keys, '--ks-pass', password, '--out', signed, aligned]
  run('apksigner', ...quietly('-J'), 'sign', ...signing)
  return signed
}

/** What `apksigner` says of the signatures of a file. Throws where it accepts none. */
export const verifyApk = (path: string): string => run('apksigner', ...quietly('-J'), 'verify', '--verbose', path)

/** What `aapt` reads in a file. */
export const readApk = (path: string): string => run('aapt', 'dump', 'badging', path)

/** Options by which Java leaves nothing behind, which each tool takes after letters of its own. */
const quietly = (letters: string): string[] =>
  ['XX:-UsePerfData', 'XX:TieredStopAtLevel=1'].map((each) => letters + each)

const run = (...command: string[]): string => {
  const { success, stdout, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(`${command.slice(0, 2).join(' ')}: ${stdout}${stderr}`)
  return stdout.toString()
}
