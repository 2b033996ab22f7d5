/**
 * Which layer a piece of a disk is, packed: for each that was pulled or pushed a file in `.store/packed`, so that what a registry
 * has is neither packed nor sent again, whoever packed it.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { readIfThere } from '../../files/durable.ts'
import { fileName, type ImageStore } from '../store.ts'
import type { Compression, PackedLayer } from './pack.ts'

const Layer = Type.Object({
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  size: Type.Integer({ minimum: 0 }),
})

/** Those of one store. */
export class KnownLayers {
  readonly folder: string

  constructor(store: ImageStore) {
    this.folder = join(store.root, 'packed')
  }

  /** The layer that holds what has this digest, unpacked; undefined where none is known. */
  async find(digest: string, compression: Compression): Promise<PackedLayer | undefined> {
    const text = await readIfThere(this.#path(digest, compression))
    if (text === undefined) return undefined
    try {
      const layer: unknown = JSON.parse(text)
      return Value.Check(Layer, layer) ? (layer as Static<typeof Layer>) : undefined
    } catch {
      return undefined
    }
  }

  /** Keeps in mind that this layer holds it. What a power cut leaves of that is taken for nothing. */
  async keep(digest: string, compression: Compression, { digest: packed, size }: PackedLayer): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    await writeFile(this.#path(digest, compression), JSON.stringify({ digest: packed, size }), { mode: 0o600 })
  }

  #path(digest: string, compression: Compression): string {
    return join(this.folder, `${fileName(digest)}.${compression}.json`)
  }
}
