/** What a sandbox started from, as it was stored. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { ImageDict } from '../image/dict.ts'
import { runtimeOf } from '../runtimes/known.ts'
import type { SavedSandbox, Source } from './options.ts'

/** The image or snapshot of a record. */
export const storedSource = async ({ image, snapshot, settings }: SandboxRecord): Promise<Source> => {
  if (image === null && snapshot !== null) return savedOf(snapshot, settings)
  const { Image } = await import('../image/image.ts')
  // Of a sandbox out of a pool only its runtime knows the image.
  return image === null ? Image.desktop() : Image.fromDict(image as unknown as ImageDict)
}

const savedOf = (stored: Readonly<Record<string, unknown>>, settings: SandboxRecord['settings']): SavedSandbox => ({
  id: String(stored.id),
  name: typeof stored.name === 'string' ? stored.name : null,
  sizeBytes: Number(stored.size_bytes),
  sandbox: String(stored.sandbox),
  source: String(stored.source),
  memory: stored.memory === true,
  createdAt: String(stored.created_at),
  delete: async (options) =>
    runtimeOf({ runtime: String(stored.source), settings })?.deleteSnapshot(String(stored.id), options),
})
