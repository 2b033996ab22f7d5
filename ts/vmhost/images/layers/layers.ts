/** Layers: fetched into the store, begun again where a connection or a service broke off, and checked. */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { images } from '@backlot/contract/limits'
import { noRoom } from '../../files/file-failure.ts'
import type { Descriptor } from '../registry/manifest.ts'
import { corrupt, type Repository, withRetries } from '../registry/registry.ts'
import type { ImageStore } from '../store.ts'

/**
 * Path of the layer, which is fetched unless it is here. The caller holds its lock; `progress` hears how many bytes are
 * here. Throws `layer_corrupt`, `registry_unreachable`, `registry_refused` and `disk_full`.
 */
export const fetchLayer = async (
  repository: Repository,
  layer: Descriptor,
  store: ImageStore,
  signal: AbortSignal,
  progress: (bytes: number) => void,
): Promise<string> => {
  const path = store.blob(layer.digest)
  if ((await sizeOf(path)) === layer.size) {
    progress(layer.size)
    return path
  }
  const part = `${path}.part`
  try {
    // What a service that died had received may be wrong; what was received from the first byte on may not.
    const isWhole = await receive(repository, layer, part, signal, progress)
    if (!isWhole && !(await receive(repository, layer, part, signal, progress))) throw wrong(repository, layer)
    await rename(part, path)
  } catch (error) {
    throw noRoom(error, part)
  }
  return path
}

/** Receives what is missing; false where it began with what was here, and all of it together was wrong. */
const receive = async (
  repository: Repository,
  layer: Descriptor,
  part: string,
  signal: AbortSignal,
  progress: (bytes: number) => void,
): Promise<boolean> => {
  let had = (await sizeOf(part)) ?? 0
  if (had > layer.size) {
    await rm(part, { force: true })
    had = 0
  }
  await using file = await open(part, had > 0 ? 'r+' : 'w', 0o600)
  const state = { bytes: had, hash: await hashOf(part, had) }
  progress(had)
  if (had < layer.size) {
    const attempt = () => receiveOnce(repository, layer, file, state, signal, progress)
    await withRetries(repository.registry, signal, attempt, () => state.bytes)
  }
  await file.sync()
  if (`sha256:${state.hash.digest('hex')}` === layer.digest) return true
  await rm(part, { force: true })
  if (had === 0) throw wrong(repository, layer)
  return false
}

const receiveOnce = async (
  repository: Repository,
  layer: Descriptor,
  file: Awaited<ReturnType<typeof open>>,
  state: { bytes: number; hash: Hash },
  signal: AbortSignal,
  progress: (bytes: number) => void,
): Promise<void> => {
  const silence = new AbortController()
  let timer: Timer | undefined
  const heard = () => {
    clearTimeout(timer)
    const why = new Error(`it sent nothing for ${images.idleTimeoutMs / 1000} s`)
    timer = setTimeout(() => silence.abort(why), images.idleTimeoutMs)
  }
  heard()
  try {
    const answer = await repository.blob(layer.digest, state.bytes, AbortSignal.any([signal, silence.signal]))
    if (answer.status === 200 && state.bytes > 0) {
      // It knows no ranges: what it gives begins at the first byte.
      await file.truncate(0)
      Object.assign(state, { bytes: 0, hash: createHash('sha256') })
    } else if (answer.status !== 200 && !isRest(answer, state.bytes, layer.size)) {
      throw new Error(`it answers with status ${answer.status} to the request for a layer`)
    }
    for await (const bytes of answer.body ?? []) {
      heard()
      if (state.bytes + bytes.byteLength > layer.size) throw wrong(repository, layer)
      for (let at = 0; at < bytes.byteLength; ) {
        at += (await file.write(bytes, at, bytes.byteLength - at, state.bytes + at)).bytesWritten
      }
      state.hash.update(bytes)
      state.bytes += bytes.byteLength
      progress(state.bytes)
    }
    if (state.bytes !== layer.size) throw new Error(`it ended after ${state.bytes} of ${layer.size} bytes`)
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

/** Whether the answer is the rest of the layer from that byte on. */
const isRest = (answer: Response, start: number, size: number): boolean =>
  answer.status === 206 && answer.headers.get('content-range')?.startsWith(`bytes ${start}-${size - 1}/`) === true

const hashOf = async (path: string, bytes: number): Promise<Hash> => {
  const hash = createHash('sha256')
  if (bytes > 0)
    for await (const part of createReadStream(path, { end: bytes - 1, highWaterMark: 2 ** 20 })) hash.update(part)
  return hash
}

const wrong = ({ registry }: Repository, { digest, size }: Descriptor) =>
  corrupt(registry, `the layer "${digest}" of ${size} bytes`)

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
