/** Making an application for Android of a web app: it opens the web app in a browser of the device, which hides its controls. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { CallOptions, CommandResult } from '../../basics.ts'
import { withDeadline } from '../../deadline.ts'
import { CommandError, invalidArgument, UnavailableError } from '../../errors.ts'
import type { Layer } from '../../image/layer.ts'
import { finish, lastLines } from '../../runtimes/emulator/programs.ts'
import { type AppTools, findAppTools } from './app-tools.ts'
import { assetLinksOf, assetStatement, siteNames } from './asset-links.ts'
import { webAppDex } from './dex.ts'
import { forShort } from './java.ts'
import { fingerprintOf, keepKeystore, keptKeystore, passwordVariable, type SigningKey } from './keystore.ts'
import { isPackageName, packageNameOf, projectTexts } from './project.ts'
import { readWebApp, type WebApp } from './web-manifest.ts'

type WebAppLayer = Extract<Layer, { type: 'pwa_install' }>

/** An application that was made; its file is there until `use` has ended. */
export interface MadeApp {
  readonly path: string
  readonly packageName: string
  /** The SHA-256 of the certificate of its key, as sites name it. */
  readonly fingerprint: string
  /** What whoever has the site needs to know of the key, in lines. */
  readonly note: string
}

/** Makes one, gives it to `use`, and removes it. Throws `invalid_argument`, `file_not_found`, and `executable_not_found` where tools are missing. */
export const withWebApp = async (
  layer: WebAppLayer,
  options: CallOptions & { readonly androidSdk?: string },
  use: (app: MadeApp) => Promise<CommandResult>,
): Promise<CommandResult> => {
  const tools = findAppTools(options.androidSdk)
  if ('reason' in tools) throw new UnavailableError('executable_not_found', `${tools.reason} ${tools.remedy}`)
  const folder = await mkdtemp(join(tmpdir(), 'backlot-web-app-'))
  try {
    const app = await withDeadline(options, `Making an app of "${layer.manifest_url}"`, (signal) =>
      make(layer, tools, folder, signal),
    )
    return await use(app)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const make = async (layer: WebAppLayer, tools: AppTools, folder: string, signal: AbortSignal): Promise<MadeApp> => {
  const app = await readWebApp(layer.manifest_url, signal)
  const packageName = layer.package_name ?? packageNameOf(app.startUrl)
  if (!isPackageName(packageName)) {
    throw invalidArgument(
      'package_name',
      `"package_name" is "${packageName}"; it takes two or more parts with points between, each of letters, digits and _, beginning with a letter.`,
    )
  }
  const key: SigningKey = {
    keystore: layer.keystore ?? keptKeystore(packageName),
    alias: layer.keystore_alias,
    password: layer.keystore_password,
  }
  if (layer.keystore === undefined) await keepKeystore(tools.keytool, packageName, key, signal)
  const fingerprint = await fingerprintOf(tools.keytool, key, signal)
  const path = await pack(app, packageName, key, { tools, folder, signal })
  return { path, packageName, fingerprint, note: await noteOf(app, packageName, fingerprint, signal) }
}

/** The signed file of an application. */
const pack = async (
  app: WebApp,
  packageName: string,
  { keystore, alias, password }: SigningKey,
  { tools, folder, signal }: { tools: AppTools; folder: string; signal: AbortSignal },
): Promise<string> => {
  const at = (name: string) => join(folder, name)
  const files: Readonly<Record<string, string | Uint8Array>> = {
    ...projectTexts(app, packageName),
    ...(app.icon && { [`res/drawable-nodpi/icon.${app.icon.extension}`]: app.icon.bytes }),
    'raw/classes.dex': Buffer.from(webAppDex, 'base64'),
  }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(at(name)), { recursive: true })
    await writeFile(at(name), content)
  }
  const run = async (...command: readonly [string, ...string[]]) => {
    const result = await finish(command, { env: { [passwordVariable]: password }, signal })
    if (result.status === 0) return
    const message = `"${command[0]}" makes no app of "${app.startUrl}": ${lastLines(result.output)}.`
    throw new CommandError(message, { stdout: '', stderr: result.output, exitCode: result.status })
  }
  const resources = ['-M', at('AndroidManifest.xml'), '-S', at('res'), '-I', tools.framework]
  // Since Android 11 the table of resources must not be compressed.
  await run(tools.aapt, 'package', '-f', '-0', 'arsc', ...resources, '-F', at('packed.apk'), at('raw'))
  await run(tools.zipalign, '-f', '4', at('packed.apk'), at('aligned.apk'))
  const signing = ['--ks', keystore, '--ks-key-alias', alias, '--ks-pass', `env:${passwordVariable}`]
  const words = ['sign', '--v4-signing-enabled', 'false', ...signing, '--out', at('signed.apk'), at('aligned.apk')]
  await run(tools.apksigner, ...forShort('-J'), ...words)
  return at('signed.apk')
}

const noteOf = async (
  { origin }: WebApp,
  packageName: string,
  fingerprint: string,
  signal: AbortSignal,
): Promise<string> => {
  const signed = `${packageName} is signed by the key ${fingerprint}.`
  const list = assetLinksOf(origin)
  if (await siteNames(origin, packageName, fingerprint, signal)) return `${signed}\n${list} names it.\n`
  const statement = JSON.stringify([assetStatement(packageName, fingerprint)])
  return `${signed}\n${list} does not name it, so the browser shows its bar. Put this there:\n${statement}\n`
}
