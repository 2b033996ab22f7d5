/** What a VM starts from: the image of the host that stands for an image of the SDK, fetched where it is not there. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { pause } from '../../deadline.ts'
import { BacklotError, NotFoundError, UnsupportedError } from '../../errors.ts'
import type { Image } from '../../image/image.ts'
import { localFailure } from '../../local/failure.ts'
import type { SandboxOptions } from '../../sandbox/options.ts'
import type { VmHost } from './host.ts'

/** The image that a desktop starts from. */
const desktop = 'linux-desktop:latest'

/** Gibibytes of a disk where nobody says; on the drive it takes what is written to it. */
const usualDiskGb = { desktop: 20, file: 64 } as const

/** What the host makes a VM of. */
export interface HostImage {
  /** `NAME:TAG`, or a reference with its registry. */
  readonly image: string
  readonly diskGb: number
}

/** Finds it, or imports it; throws `unsupported`, `image_not_found`, `file_not_found`. */
export const hostImage = async (
  host: VmHost,
  image: Image,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<HostImage> => {
  const { registry, disk_path: path } = image.toDict()
  if (registry !== undefined) return { image: registry, diskGb: usualDiskGb.desktop }
  if (path !== undefined) return { image: await imported(host, path, image, options, signal), diskGb: usualDiskGb.file }
  if (image.osType !== 'linux') {
    throw new UnsupportedError(
      `No VM image of ${image.osType} comes with this package. Name a disk or a disc of it: \`Image.fromFile(path, { osType: '${image.osType}' })\`.`,
    )
  }
  if (options.strict && image.isDistroAsked && !(image.distro === 'debian' && image.version === '12')) {
    throw new UnsupportedError(
      `The desktop of VMs is Debian 12, not ${image.distro} ${image.version}. Leave "strict" out, or name an image.`,
    )
  }
  if (await has(host, desktop, signal)) return { image: desktop, diskGb: usualDiskGb.desktop }
  throw new NotFoundError(
    'image_not_found',
    `There is no image "${desktop}" on this machine. Build it with \`backlot image build linux-desktop\`, which takes some minutes.`,
    { data: { image: desktop } },
  )
}

const has = async (host: VmHost, image: string, signal: AbortSignal): Promise<boolean> => {
  const images = await host.ask(signal, (client) => client.listImages())
  return images.some(({ name, tag }) => `${name}:${tag}` === image)
}

/** What tells an image of the host's store from others, and from what it was before. */
export interface StoredImage {
  readonly id: string
  /** Whether it was built on this machine from a recipe of ours, and so has an agent. */
  readonly isBuiltHere: boolean
}

/** The image of the host's store that a VM would be made of; undefined where it is to be pulled first. */
export const storedImage = async (
  host: VmHost,
  image: string,
  signal: AbortSignal,
): Promise<StoredImage | undefined> => {
  const images = await host.ask(signal, (client) => client.listImages())
  const plain = images.find(({ name, tag, registry }) => registry === null && `${name}:${tag}` === tagged(image))
  if (plain !== undefined) return { id: plain.imageId, isBuiltHere: plain.source === null }
  const { registry, organization } = await host.ask(signal, (client) => client.getConfig())
  const usual = registry.replace(/^https?:\/\//i, '').replace(/\/+$/, '')
  const [reference = '', digest] = image.split('@')
  const names = ['', `${usual}/`, `${usual}/${organization}/`].map((before) => `${before}${tagged(reference)}`)
  const pulled = images.find(
    (each) =>
      each.registry !== null &&
      names.includes(`${each.registry}/${each.repository}:${each.tag}`) &&
      (digest === undefined || digest === each.imageId),
  )
  return pulled && { id: pulled.imageId, isBuiltHere: false }
}

const tagged = (reference: string): string => (/:[^/]*$/.test(reference) ? reference : `${reference}:latest`)

/** The image that a file or an address became; the same file becomes one only once. */
const imported = async (
  host: VmHost,
  given: string,
  { osType }: Image,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<string> => {
  if (osType !== 'linux' && osType !== 'windows') {
    throw new UnsupportedError(`QEMU here starts disks of Linux and Windows, not of ${osType}. Choose another runtime.`)
  }
  const isAddress = /^https?:\/\//i.test(given)
  const source = isAddress ? given : resolve(given.replace(/^~(?=\/)/, homedir()))
  const name = `file-${await identity(source, isAddress)}:latest`
  if (await has(host, name, signal)) return name
  const { operationId } = await host.ask(signal, (client) => client.importImage({ source, name, os: osType }))
  await host.done(operationId, signal, ({ progress }) => {
    const { doneBytes = 0, totalBytes = null } = progress ?? {}
    options.onProgress?.({ phase: 'download', bytes: doneBytes, totalBytes })
  })
  options.onProgress?.({ phase: 'boot', message: 'The image is there.', percent: null })
  return name
}

/** Tells files apart, and states of one file; an address is fetched once. */
const identity = async (source: string, isAddress: boolean): Promise<string> => {
  const sum = createHash('sha256').update(source)
  if (!isAddress) {
    const { size, mtimeMs } = await stat(source).catch((error) => {
      throw localFailure(error, source)
    })
    sum.update(` ${size} ${mtimeMs}`)
  }
  return sum.digest('hex').slice(0, 16)
}

/** Fetches an image of a registry into the host's store: the host makes a VM of what it pulls, which is removed again. */
export const pulled = async (
  host: VmHost,
  image: string,
  name: string,
  { onProgress }: SandboxOptions,
  signal: AbortSignal,
): Promise<void> => {
  const { operationId } = await host.ask(signal, (client) => client.startPull({ image, name }))
  try {
    await host.done(operationId, signal, ({ progress }) => {
      const { doneBytes = 0, totalBytes = null } = progress ?? {}
      onProgress?.({ phase: 'download', bytes: doneBytes, totalBytes })
    })
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof Error ? error.message : String(error)
    throw new NotFoundError('image_not_found', `There is no image "${image}" here, and it cannot be pulled: ${why}`, {
      data: { image },
      cause: error,
    })
  }
  await removed(host, name, signal)
  onProgress?.({ phase: 'boot', message: 'The image is there.', percent: null })
}

/** Milliseconds between two tries to end what the host is working on. */
const tryEveryMs = 100

/** Ends a VM and removes its files; one that is gone is fine. */
export const removed = async (host: VmHost, name: string, signal: AbortSignal): Promise<void> => {
  for (;;) {
    try {
      const { status } = await host.ask(signal, (client) => client.getVm({ name }))
      if (status === 'running' || status === 'starting') {
        await host.ask(signal, (client) => client.stopVm({ name, graceSeconds: 0 }))
      }
      await host.ask(signal, (client) => client.deleteVm({ name }))
      return
    } catch (error) {
      if (!BacklotError.is(error)) throw error
      if (error.code === 'sandbox_not_found') return
      if (error.code !== 'sandbox_busy' && error.code !== 'sandbox_not_running') throw error
    }
    await pause(tryEveryMs, signal)
  }
}
