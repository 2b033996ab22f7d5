/** The keys that `login` stored: one for each cloud, in a file that its user alone may read. */
import { ConflictError } from '../errors.ts'
import { makePrivateFolder, readText, replaceFile } from '../state/durable.ts'
import { folders } from '../state/folders.ts'
import { tryLock } from '../state/lock.ts'

const format = 1

interface Stored {
  readonly format: number
  /** Address of the cloud that was signed in to last. */
  readonly base_url: string
  /** Keys by the address that they are for: a key is sent nowhere else. */
  readonly keys: Readonly<Record<string, string>>
}

/** Path of the file. */
export const credentialsPath = (): string => `${folders().config}/credentials.json`

/** What is stored; undefined where nobody has signed in. Throws `state_unusable` for a damaged or later file. */
export const readCredentials = async (): Promise<Stored | undefined> => {
  const path = credentialsPath()
  const text = await readText(path)
  if (text === undefined) return undefined
  let held: Partial<Stored> | null = null
  try {
    held = JSON.parse(text)
  } catch {
    // Said below.
  }
  const isLater = typeof held?.format === 'number' && held.format > format
  const isOurs =
    held?.format === format && typeof held.base_url === 'string' && typeof held.keys === 'object' && held.keys !== null
  if (isOurs) return held as Stored
  throw new ConflictError(
    'state_unusable',
    isLater
      ? `The file "${path}" is of a later version of Backlot. Update @backlot/sdk.`
      : `The file "${path}" holds no keys. Remove it and sign in again with \`login()\`.`,
    { data: { path } },
  )
}

/** Stores the key of a cloud beside those of others. */
export const storeKey = async (baseUrl: string, key: string): Promise<void> => {
  const { config } = folders()
  await makePrivateFolder(config)
  // A second program that signs in at this moment would lose one of the two keys.
  const lock = await tryLock(`${config}/credentials.lock`)
  if (lock === undefined) {
    const text = 'Another program is storing a key at this moment. Sign in again.'
    throw new ConflictError('sandbox_busy', text, { retryable: true })
  }
  try {
    const before = await readCredentials()
    const stored: Stored = { format, base_url: baseUrl, keys: { ...before?.keys, [baseUrl]: key } }
    await replaceFile(credentialsPath(), `${JSON.stringify(stored, null, 2)}\n`)
  } finally {
    await lock.release()
  }
}
