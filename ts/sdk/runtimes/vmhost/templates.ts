/** Templates: suspended VMs in which an image was booted and its layers carried out once; sandboxes of it are their forks. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { pause } from '../../deadline.ts'
import { BacklotError } from '../../errors.ts'
import { layerHashes } from '../../image/hash.ts'
import type { Image } from '../../image/image.ts'
import { findExecutable } from '../../local/executable.ts'
import type { SandboxOptions } from '../../sandbox/options.ts'
import { folders } from '../../state/folders.ts'
import { Records } from '../../state/records.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { boot, vmOf } from './boot.ts'
import { forkWithKeys, keyFrom, whenReady, withOwnKey } from './guest-server.ts'
import type { VmHost } from './host.ts'
import { pooledTemplates } from './pool-records.ts'
import { type HostImage, imageBuiltHere, removed } from './sources.ts'

/** What the names of templates begin with: no sandbox has a dot in its own. */
const prefix = 'template.'

/** Templates that are kept; an older one is made again when it is wanted. */
const mostKept = 4
/** Seconds that the agent of a fork may take to tell the key. */
const agentSeconds = 60
/** Milliseconds between two looks at a template that another program makes. */
const lookEveryMs = 200

export const isTemplate = (name: string): boolean => name.startsWith(prefix)

/**
 * The template of such sandboxes, which is made where it is missing. Undefined where the image has none: one that was not
 * built here may have no agent, without which its forks would have their host keys and random seed in common.
 */
export const templateFor = async (
  host: VmHost,
  image: Image,
  from: HostImage,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const built = await imageBuiltHere(host, from.image, signal)
  if (built === undefined) return undefined
  const template = `${prefix}${await hashOf(image, built, from, options)}`
  if (!(await isSaved(host, template, signal))) {
    await alone(template, signal, () => makeTemplate(host, image, from, template, options, signal))
  }
  return template
}

/** A sandbox that is a fork of a template; undefined, and removed, where its guest was given no identity of its own. */
export const forkOf = async (
  host: VmHost,
  template: string,
  name: string,
  signal: AbortSignal,
): Promise<RuntimeInfo | undefined> => {
  const { api_key: key } = await templateRecords().readKeys(template)
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
      await pause(lookEveryMs, signal)
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
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<void> => {
  if (await isSaved(host, template, signal)) return
  await removed(host, template, signal)
  try {
    const info = await boot(host, image, from, template, options, signal)
    await whenReady(host, info, signal)
    options.onProgress?.({ phase: 'boot', message: 'The VM is saved as a template.', percent: null })
    await templateRecords().writeKeys(template, { ...(info.apiKey !== undefined && { api_key: info.apiKey }) })
    await host.ask(signal, (client) => client.suspendVm({ name: template }))
  } catch (error) {
    await removed(host, template, AbortSignal.timeout(clearMs)).catch(() => undefined)
    throw error
  }
  await removeOldest(host, signal)
}

/** Milliseconds that clearing away what did not start may take. */
const clearMs = 30_000

/** Their forks lose nothing by it. */
const removeOldest = async (host: VmHost, signal: AbortSignal): Promise<void> => {
  const vms = await host.ask(signal, (client) => client.listVms())
  const pooled = await pooledTemplates()
  const isOld = ({ name, status }: (typeof vms)[number]) =>
    isTemplate(name) && status === 'suspended' && !pooled.has(name)
  const saved = vms.filter(isOld)
  const newestFirst = saved.sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  for (const { name } of newestFirst.slice(mostKept)) {
    await removed(host, name, signal)
    await templateRecords().writeKeys(name, {})
  }
}
