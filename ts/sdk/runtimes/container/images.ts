/** The images that containers start from: the desktop of the recipe, and those of a registry. */
import { NotFoundError, UnsupportedError } from '../../errors.ts'
import type { Image } from '../../image/image.ts'
import type { SandboxOptions } from '../../sandbox/options.ts'
import { archive } from './archive.ts'
import { type Engine, EngineError } from './engine.ts'
import { label } from './labels.ts'
import { desktopRecipe } from './recipe.ts'

/** What the desktop's image is built on, and the network of its build; docker's own unless given. */
export interface BuildSettings {
  /** @default 'debian:bookworm-slim' */
  readonly base?: string
  /** As `docker build --network`. @default the engine's */
  readonly network?: string
}

/** An image of the engine. */
export interface FoundImage {
  readonly id: string
  /** What differs from what was asked, in sentences. */
  readonly warnings: readonly string[]
}

const usualBase = 'debian:bookworm-slim'

/** The engine's image that an image without layers means, fetched or built where it is absent. */
export const baseImage = async (
  engine: Engine,
  image: Image,
  settings: BuildSettings,
  options: SandboxOptions,
): Promise<FoundImage> => {
  const { registry, disk_path } = image.toDict()
  if (disk_path !== undefined) {
    throw new UnsupportedError(`The runtime "container" starts no disks: "${disk_path}" is one. Use a VM.`)
  }
  if (registry !== undefined) return { id: await fetched(engine, registry, options), warnings: [] }
  const warnings: string[] = []
  if (image.isDistroAsked && (image.distro !== 'debian' || !['12', 'latest'].includes(image.version))) {
    const text = `It runs Debian 12, not ${image.distro} ${image.version}: the desktop's image is built on "${settings.base ?? usualBase}".`
    if (options.strict) throw new UnsupportedError(`${text} Leave "strict" out, or use Image.fromRegistry.`)
    warnings.push(text)
  }
  return { id: await desktop(engine, settings, options), warnings }
}

/** The id of an image that the engine has; undefined where it has none. */
export const imageId = async (
  engine: Engine,
  name: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> => {
  try {
    return (await engine.call<{ Id: string }>('GET', `/images/${name}/json`, { signal })).Id
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined
    throw error
  }
}

const form = /^[a-z0-9][\w.:/@-]*$/i

const fetched = async (engine: Engine, reference: string, { signal, onProgress }: SandboxOptions): Promise<string> => {
  const missing = (why: string): NotFoundError =>
    new NotFoundError('image_not_found', `There is no image "${reference}": ${why}. Name one as for \`docker pull\`.`, {
      data: { image: reference },
    })
  if (!form.test(reference)) throw missing('that is no name of an image')
  const here = await imageId(engine, reference, signal)
  if (here !== undefined) return here
  const isExact = reference.includes('@') || /:[^/]*$/.test(reference)
  const layers = new Map<string, { current: number; total: number }>()
  try {
    const query = { fromImage: isExact ? reference : `${reference}:latest` }
    for await (const { id = '', progressDetail } of engine.progress('POST', '/images/create', { query, signal })) {
      const { current, total } = progressDetail ?? {}
      if (current === undefined || total === undefined) continue
      layers.set(id, { current, total })
      const all = [...layers.values()]
      const bytes = all.reduce((sum, each) => sum + each.current, 0)
      onProgress?.({ phase: 'download', bytes, totalBytes: all.reduce((sum, each) => sum + each.total, 0) })
    }
  } catch (error) {
    if (error instanceof EngineError) throw missing(error.message)
    throw error
  }
  const id = await imageId(engine, reference, signal)
  if (id === undefined) throw missing('the engine fetched it and has none of that name')
  return id
}

/** The desktop's image, built where the engine has none of this recipe. */
const desktop = async (engine: Engine, settings: BuildSettings, options: SandboxOptions): Promise<string> => {
  const { signal, onProgress } = options
  const base = settings.base ?? usualBase
  const { Architecture } = await engine.call<{ Architecture: string }>('GET', '/info', { signal })
  const { files, hash } = await desktopRecipe(base, Architecture)
  const tag = `backlot-desktop:${hash.slice(0, 16)}`
  const here = await imageId(engine, tag, signal)
  if (here !== undefined) return here
  const query = {
    t: tag,
    dockerfile: 'docker/desktop/Dockerfile',
    buildargs: JSON.stringify({ BASE: base }),
    labels: JSON.stringify({ [label.recipe]: hash }),
    networkmode: settings.network,
    forcerm: true,
  }
  let bytes = 0
  const told = () => onProgress?.({ phase: 'download', bytes, totalBytes: null })
  told()
  const last: string[] = []
  try {
    for await (const { stream } of engine.progress('POST', '/build', { query, body: archive(files), signal })) {
      if (stream === undefined) continue
      // What a build writes is all that is known of how far it is.
      bytes += stream.length
      last.push(stream.trim())
      if (last.length > 20) last.shift()
      told()
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new UnsupportedError(
      `The desktop's image cannot be built: ${error.message}. It said last: ${last.slice(-5).join(' / ')}`,
      { cause: error },
    )
  }
  const id = await imageId(engine, tag, signal)
  if (id === undefined) throw new UnsupportedError(`The engine built "${tag}" and has no image of that name.`)
  return id
}
