/** The keystores with which applications are signed: those that are given, and those that are made and kept. */
import { X509Certificate } from 'node:crypto'
import { access, chmod, link, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidArgumentError, invalidArgument } from '../../errors.ts'
import { localFailure } from '../../local/failure.ts'
import { finish, lastLines } from '../../runtimes/emulator/programs.ts'
import { isSystemError, makePrivateFolder } from '../../state/durable.ts'
import { folders } from '../../state/folders.ts'
import { forShort } from './java.ts'

/** A key in a keystore. */
export interface SigningKey {
  readonly keystore: string
  readonly alias: string
  readonly password: string
}

/** Where the keystore of a package is kept that nobody gave. */
export const keptKeystore = (packageName: string): string =>
  join(folders().cache, 'web-apps', `${packageName}.keystore`)

/** Makes the keystore of a package where there is none yet; two programs at once get the same. */
export const keepKeystore = async (
  keytool: string,
  packageName: string,
  { keystore, alias, password }: SigningKey,
  signal: AbortSignal,
): Promise<void> => {
  if (await isThere(keystore)) return
  await makePrivateFolder(join(keystore, '..'))
  const made = `${keystore}.${crypto.randomUUID()}`
  try {
    const key = [
      '-genkeypair',
      '-keyalg',
      'RSA',
      '-keysize',
      '2048',
      '-validity',
      '10000',
      '-dname',
      `CN=${packageName}`,
    ]
    const words = [...key, '-alias', alias, '-keystore', made, '-storetype', 'PKCS12']
    const { status, output } = await runKeytool(keytool, words, password, signal)
    if (status !== 0) {
      throw invalidArgument('keystore_password', `No keystore is made: ${lastLines(output)}.`)
    }
    await chmod(made, 0o600)
    // Without it no update of what it signed is ever taken.
    const file = await open(made, 'r+')
    await file.sync().finally(() => file.close())
    // A name that is taken was made by another program meanwhile.
    await link(made, keystore).catch((error: unknown) => {
      if (!isSystemError(error, 'EEXIST')) throw error
    })
  } catch (error) {
    throw localFailure(error, keystore)
  } finally {
    await rm(made, { force: true })
  }
}

/** The SHA-256 of a key's certificate as sites name it: `AB:CD:…`. Throws `file_not_found`, and `invalid_argument` with what keytool says. */
export const fingerprintOf = async (
  keytool: string,
  { keystore, alias, password }: SigningKey,
  signal: AbortSignal,
): Promise<string> => {
  await access(keystore).catch((error: unknown) => {
    throw localFailure(error, keystore)
  })
  const words = ['-exportcert', '-rfc', '-alias', alias, '-keystore', keystore]
  const { status, output } = await runKeytool(keytool, words, password, signal)
  const [certificate] = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/.exec(output) ?? []
  if (status === 0 && certificate !== undefined) return new X509Certificate(certificate).fingerprint256
  throw new InvalidArgumentError(
    'invalid_argument',
    `The keystore "${keystore}" gives no key "${alias}": ${lastLines(output)}. Give the alias and the password that it was made with.`,
    { data: { keystore, alias } },
  )
}

/** The variable by which the tools of Java are given a password, which their words would show to everybody. */
export const passwordVariable = 'BACKLOT_KEYSTORE_PASSWORD'

const runKeytool = (keytool: string, words: readonly string[], password: string, signal: AbortSignal) =>
  finish([keytool, ...forShort('-J-'), ...words, '-storepass:env', passwordVariable], {
    env: { [passwordVariable]: password },
    signal,
  })

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
