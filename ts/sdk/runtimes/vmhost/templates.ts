/** Templates: suspended VMs in which an image was booted and its layers carried out once; sandboxes of it are their forks. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { pause } from '../../deadline.ts'
import { BacklotError, UnsupportedError } from '../../errors.ts'
import { layerHashes } from '../../image/hash.ts'
import type { Image } from '../../image/image.ts'
import { findExecutable } from '../../local/executable.ts'
import type { SandboxOptions } from '../../sandbox/options.ts'
import { folders } from '../../state/folders.ts'
import { Records } from '../../state/records.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { boot, vmOf } from './boot.ts'
import { forkWithKeys, isSilent, keyFrom, whenReady, withOwnKey } from './guest-server.ts'
import type { VmHost } from './host.ts'
import { pooledTemplates } from './pool-records.ts'
import { type HostImage, removed, storedImage } from './sources.ts'

/** What the names of templates begin with: no sandbox has a dot in its own. */
const prefix = 'template.'

/** Templates that are kept beside those of pools; one that goes is made again when it is wanted. */
const mostKept = 4
/** Seconds that the agent of a fork may take to tell the key. */
const agentSeconds = 60
/** Seconds in which the agent of a guest that is ready shows that it is there. */
const agentShowsSeconds = 5
/** Milliseconds between two looks at a template that another program makes. */
const pollIntervalMs = 200

export const isTemplate = (name: string): boolean => name.startsWith(prefix)

/**
 * The template of such sandboxes. Where it is missing it is made if its guests surely have an agent, as those of images that were
 * built here, or if it is `needed`; undefined otherwise. Throws `unsupported` where one that is needed has no agent: forks of
 * it would have their host keys and random seed in common.
 */
export const templateFor = async (
  host: VmHost,
  image: Image,
  from: HostImage,
  options: SandboxOptions,
  signal: AbortSignal,
  isNeeded = false,
): Promise<string | undefined> => {
  const stored = await storedImage(host, from.image, signal)
  if (stored === undefined || image.osType !== 'linux') return undefined
  const template = `${prefix}${await hashOf(image, stored.id, from, options)}`
  if (await isSaved(host, template, signal)) return template
  if (!stored.isBuiltHere && !isNeeded) return undefined
  await alone(template, signal, () => makeTemplate(host, image, from, template, stored.isBuiltHere, options, signal))
  return template
}

/** A sandbox that is a fork of a template; undefined, and removed, where its guest was given no identity of its own. */
export const forkOf = async (
  host: VmHost,
  template: string,
  name: string,
  signal: AbortSignal,
): Promise<RuntimeInfo | undefined> => {
  const records = templateRecords()
  const kept = await records.readKeys(template)
  // The time of the file says when it was used last.
  await records.writeKeys(template, kept)
  const { api_key: key } = kept
  const { identity, keys } = await forkWithKeys(host, template, [name], key, signal)
  if (identity.every((each) => each === 'own')) {
    // Asked of the guest: one whose image has a server of its own asks for none, whatever it was told.
    const parents = await keyFrom(host, name, agentSeconds, signal)
    return withOwnKey(host, name, { ...keys, parents }, signal)
  }
  await removed(host, name, signal)
  return undefined
}

/** Starts a sandbox as the fork of its template; undefined where it has none, or its guest was given no identity. */
export const forkOfTemplate = async (
  host: VmHost,
  image: Image,
  from: HostImage,
  name: string,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<RuntimeInfo | undefined> => {
  const find = () => templateFor(host, image, from, options, signal)
  const template = await find()
  if (template === undefined) return undefined
  options.onProgress?.({ phase: 'boot', message: 'The VM goes on from its template.', percent: null })
  return forkOf(host, template, name, signal).catch(async (error: unknown) => {
    if (!isStale(error)) throw error
    await removed(host, name, signal)
    if (error.code !== 'sandbox_not_found') await removed(host, template, signal)
    await find()
    return forkOf(host, template, name, signal)
  })
}

/** Whether a template has gone meanwhile, or was saved by a QEMU or an accelerator that is no longer here. */
const isStale = (error: unknown): error is BacklotError =>
  BacklotError.is(error) && (error.code === 'sandbox_not_found' || error.data.serverCode === 'memory_unreadable')

/** Sixteen digits of the hash of all that a sandbox begins with. */
const hashOf = async (image: Image, imageId: string, from: HostImage, options: SandboxOptions): Promise<string> => {
  const base = JSON.stringify([imageId, vmOf(image, from, options), await executableState()])
  const layers = await layerHashes(image, base)
  return createHash('sha256')
    .update(layers.at(-1)?.hash ?? base)
    .digest('hex')
    .slice(0, 16)
}

/** What changes with the executable, which guests run; empty where it is not found here. */
const executableState = async (): Promise<string> => {
  try {
    const { size, mtimeMs } = await stat(await findExecutable())
    return `${size} ${mtimeMs}`
  } catch {
    return ''
  }
}

const isSaved = async (host: VmHost, template: string, signal: AbortSignal): Promise<boolean> => {
  try {
    return (await host.ask(signal, (client) => client.getVm({ name: template }))).status === 'suspended'
  } catch (error) {
    if (BacklotError.is(error) && error.code === 'sandbox_not_found') return false
    throw error
  }
}

/** The keys of the templates that this user has made, and their locks. */
const templateRecords = (): Records => new Records(`${folders().state}/templates`)

/** One program makes a template, and others wait for it as long as they please. */
const alone = async (template: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
  const records = templateRecords()
  for (;;) {
    const lock = await records.tryLock(template)
    if (lock === undefined) {
      await pause(pollIntervalMs, signal)
      continue
    }
    try {
      await work()
    } finally {
      await lock.release()
    }
    return
  }
}

/** Boots it, and saves it; what a program left of it that died on the way is removed first. */
const makeTemplate = async (
  host: VmHost,
  image: Image,
  from: HostImage,
  template: string,
  hasAgent: boolean,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<void> => {
  if (await isSaved(host, template, signal)) return
  await removed(host, template, signal)
  try {
    const info = await boot(host, image, from, template, options, signal)
    await whenReady(host, info, signal)
    if (!hasAgent && (await agentOf(host, template, signal)) === undefined) {
      throw new UnsupportedError(withoutAgent(from.image))
    }
    options.onProgress?.({ phase: 'boot', message: 'The VM is saved as a template.', percent: null })
    await templateRecords().writeKeys(template, { ...(info.apiKey !== undefined && { api_key: info.apiKey }) })
    await host.ask(signal, (client) => client.suspendVm({ name: template }))
  } catch (error) {
    await removed(host, template, AbortSignal.timeout(clearMs)).catch(() => undefined)
    throw error
  }
  await removeOldest(host, signal)
}

/** What the agent of a guest tells of the key of its server; undefined where no agent tells anything. */
const agentOf = async (host: VmHost, name: string, signal: AbortSignal) => {
  try {
    return { key: await keyFrom(host, name, agentShowsSeconds, signal) }
  } catch (error) {
    if (isSilent(error)) return undefined
    throw error
  }
}

const withoutAgent = (image: string): string =>
  `The guests of "${image}" have no agent that could tell copies apart, so that each sandbox boots anew. Install qemu-guest-agent in the image.`

/**
 * Makes a sandbox that has just been booted and built the template of those that come after it, by a fork of it, where its image
 * was not built here. What keeps it from that is told, and harms nobody.
 */
export const keepAsTemplate = async (
  host: VmHost,
  image: Image,
  from: HostImage,
  name: string,
  info: RuntimeInfo,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<void> => {
  const stored = image.osType === 'linux' ? await storedImage(host, from.image, signal) : undefined
  if (stored === undefined || stored.isBuiltHere) return
  const note = (message: string) => options.onProgress?.({ phase: 'note', message })
  await whenReady(host, info, signal)
  const agent = await agentOf(host, name, signal)
  if (agent === undefined) return note(withoutAgent(from.image))
  const template = `${prefix}${await hashOf(image, stored.id, from, options)}`
  const lock = await templateRecords().tryLock(template)
  // Another program makes it.
  if (lock === undefined) return
  try {
    if (await isSaved(host, template, signal)) return
    await removed(host, template, signal)
    const { identity, keys } = await forkWithKeys(host, name, [template], agent.key, signal)
    if (identity.some((each) => each === 'shared')) throw new UnsupportedError(withoutAgent(from.image))
    const { apiKey } = await withOwnKey(host, template, { ...keys, parents: agent.key }, signal)
    await templateRecords().writeKeys(template, apiKey === undefined ? {} : { api_key: apiKey })
    await host.ask(signal, (client) => client.suspendVm({ name: template }))
    await removeOldest(host, signal)
  } catch (error) {
    await removed(host, template, AbortSignal.timeout(clearMs)).catch(() => undefined)
    signal.throwIfAborted()
    note(`No template of it is kept: ${(error as Error).message}`)
  } finally {
    await lock.release()
  }
}

/** Milliseconds that clearing away what did not start may take. */
const clearMs = 30_000

/** Removes those that were not used for longest, where there are too many; their forks lose nothing by it. */
const removeOldest = async (host: VmHost, signal: AbortSignal): Promise<void> => {
  const vms = await host.ask(signal, (client) => client.listVms())
  const pooled = await pooledTemplates()
  const saved = vms.filter(({ name, status }) => isTemplate(name) && status === 'suspended' && !pooled.has(name))
  const used = await Promise.all(
    saved.map(async ({ name, createdAt }) => ({ name, at: await usedAt(name, createdAt) })),
  )
  for (const { name } of used.sort((a, b) => b.at - a.at).slice(mostKept)) {
    // The pool of another user of the service.
    if ((await host.ask(signal, (client) => client.poolVm({ name }))).size > 0) continue
    await removed(host, name, signal)
    await templateRecords().writeKeys(name, {})
  }
}

/** When this user made a sandbox of a template last, in milliseconds since 1970; of those of others only when it was made is known. */
const usedAt = (template: string, createdAt: string): Promise<number> =>
  stat(`${templateRecords().folder}/keys/${template}.json`).then(
    ({ mtimeMs }) => mtimeMs,
    () => Date.parse(createdAt),
  )
