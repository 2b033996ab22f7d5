/** What is kept of an address: its whole content, and the beginning of one that is being fetched. */
import { createHash } from 'node:crypto'
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile, syncFolder } from '../files/durable.ts'

/** What tells one content of an address from another (RFC 9110, 8.8). */
export interface Content {
  readonly etag?: string
  /** Only where no other content can have the same. */
  readonly modified?: string
  /** Bytes of all of it, where they are known. */
  readonly bytes?: number
}

/** The files of one address. Who changes them, or reads the whole one, holds the lock. */
export class KeptDownload {
  readonly #name: string

  constructor(
    readonly folder: string,
    url: string,
  ) {
    this.#name = createHash('sha256').update(url).digest('hex').slice(0, 32)
  }

  /** Locked while somebody fetches or reads. */
  get lock(): string {
    return this.#at('lock')
  }

  /** The beginning, to write to. */
  get part(): string {
    return this.#at('part')
  }

  /** The whole content; undefined where none is kept. */
  async whole(): Promise<{ path: string; content: Content } | undefined> {
    const about = await read(this.#at('json'))
    if (typeof about?.file !== 'string') return undefined
    const path = join(this.folder, about.file)
    return (await sizeOf(path)) === about.bytes ? { path, content: about } : undefined
  }

  /** The beginning, as long as it can be told what it is the beginning of. */
  async begun(): Promise<{ bytes: number; content: Content } | undefined> {
    const [content, bytes] = [await read(this.#about), await sizeOf(this.part)]
    if (content === undefined || bytes === undefined || bytes === 0 || validatorOf(content) === undefined) {
      return undefined
    }
    return bytes > (content.bytes ?? bytes) ? undefined : { bytes, content }
  }

  /** Forgets what was begun, and says what begins now: at every moment the beginning is of what is said of it. */
  async begin(content: Content): Promise<void> {
    await rm(this.part, { force: true })
    await syncFolder(this.folder)
    await replaceFile(this.#about, JSON.stringify(content))
  }

  /** Forgets what was begun. */
  async drop(): Promise<void> {
    await rm(this.part, { force: true })
  }

  /** Makes what was begun, and was synced, the whole content. Its name is new: what is kept is told of in one file. */
  async finish(): Promise<string> {
    const [content, bytes] = [await read(this.#about), await sizeOf(this.part)]
    const file = `${this.#name}.${crypto.randomUUID()}.disk`
    const path = join(this.folder, file)
    await rename(this.part, path)
    await syncFolder(this.folder)
    await replaceFile(this.#at('json'), JSON.stringify({ ...content, bytes, file }))
    await this.#removeDisks(path)
    await rm(this.#about, { force: true })
    return path
  }

  /** Removes whole contents that are told of nowhere: those of a service that died before it could. */
  async removeUntold(): Promise<void> {
    await this.#removeDisks((await this.whole())?.path)
  }

  /** Forgets the whole content, for hosts that keep no images. */
  async forget(): Promise<void> {
    await rm(this.#at('json'), { force: true })
    await this.#removeDisks()
  }

  async #removeDisks(except?: string): Promise<void> {
    for (const file of await readdir(this.folder)) {
      const isOurs = file.startsWith(`${this.#name}.`) && file.endsWith('.disk')
      const path = join(this.folder, file)
      if (isOurs && path !== except) await rm(path, { force: true })
    }
  }

  /** What the beginning is the beginning of. */
  get #about(): string {
    return this.#at('part.json')
  }

  #at(kind: string): string {
    return join(this.folder, `${this.#name}.${kind}`)
  }
}

/** What a server can be asked by whether it has the same content still. */
export const validatorOf = ({ etag, modified }: Content): string | undefined => etag ?? modified

const read = async (path: string): Promise<(Content & { readonly file?: unknown }) | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
