/** Which template the pool of a name is of: one file for each pool, for the programs of this user. */
import { makePrivateFolder, readText, removeFile, replaceFile } from '../../state/durable.ts'
import { folders } from '../../state/folders.ts'

/** What is kept of a pool beside what its host knows. */
export interface KeptPool {
  readonly name: string
  /** The runtime's key. */
  readonly runtime: string
  readonly template: string
}

const folder = (): string => `${folders().state}/vm-pools`
const fileOf = (name: string): string => `${folder()}/${name}.json`

/** The pool of that name; undefined where there is none, or its file cannot be used. */
export const keptPool = async (name: string): Promise<KeptPool | undefined> => {
  const text = await readText(fileOf(name))
  try {
    const { runtime, template } = JSON.parse(text ?? '{}') as Partial<KeptPool>
    return runtime === undefined || template === undefined ? undefined : { name, runtime, template }
  } catch {
    // Whoever applies the pool again writes it anew.
    return undefined
  }
}

/** All of them, of every runtime. */
export const keptPools = async (): Promise<KeptPool[]> => {
  const { readdir } = await import('node:fs/promises')
  const files = await readdir(folder()).catch(() => [])
  const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))
  return (await Promise.all(names.map(keptPool))).filter((each) => each !== undefined)
}

/** The templates that pools are of, which are not removed as old ones. */
export const pooledTemplates = async (): Promise<ReadonlySet<string>> =>
  new Set((await keptPools()).map(({ template }) => template))

/** Keeps it in the place of one of that name. */
export const keepPool = async ({ name, ...pool }: KeptPool): Promise<void> => {
  await makePrivateFolder(folder())
  await replaceFile(fileOf(name), `${JSON.stringify(pool)}\n`)
}

/** Forgets it. */
export const removePoolRecord = (name: string): Promise<void> => removeFile(fileOf(name))
