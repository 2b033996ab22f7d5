/** An Android application without code, made and signed by Debian's own tools. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Its package. */
export const fixturePackage = 'com.example.fixture'

/** The alias and the password of the key in its keystore, which is the file `keys` beside it. */
export const fixtureKey = { alias: 'fixture', password: 'fixture' } as const

const password = `pass:${fixtureKey.password}`

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
  run(
    'keytool',
    ...quietly('-J-'),
    ...key,
    '-keystore',
    keys,
    '-storetype',
    'PKCS12',
    '-storepass',
    fixtureKey.password,
  )
  const signing = ['--v4-signing-enabled', 'false', '--ks', keys, '--ks-pass', password, '--out', signed, aligned]
  run('apksigner', ...quietly('-J'), 'sign', ...signing)
  return signed
}

/** What `apksigner` says of the signatures of a file. Throws where it accepts none. */
export const verifyApk = (path: string): string =>
  run('apksigner', ...quietly('-J'), 'verify', '--verbose', '--print-certs', path)

/** What `aapt` reads in a file: of the whole application, or another of its views. */
export const readApk = (path: string, view: 'badging' | 'xmltree' | 'list' = 'badging', ...parts: string[]): string =>
  view === 'list' ? run('aapt', 'list', path) : run('aapt', 'dump', view, path, ...parts)

/** Options by which Java leaves nothing behind, which each tool takes after letters of its own. */
const quietly = (letters: string): string[] =>
  ['XX:-UsePerfData', 'XX:TieredStopAtLevel=1'].map((each) => letters + each)

const run = (...command: string[]): string => {
  const { success, stdout, stderr } = Bun.spawnSync(command)
  if (!success) throw new Error(`${command.slice(0, 2).join(' ')}: ${stdout}${stderr}`)
  return stdout.toString()
}
