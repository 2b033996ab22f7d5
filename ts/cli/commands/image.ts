/** `backlot image`: builds, lists, pulls, pushes and removes the images that VMs are made from. */
import { resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { fieldFault, fromText } from '@backlot/contract/fields/field'
import { placesOf } from '@backlot/contract/places'
import { vmHost } from '@backlot/contract/vmhost'
import { recipes } from '@backlot/imagebuild'
import {
  ImageStore,
  imagesIn,
  importImage,
  inspectImage,
  plannedImport,
  prune,
  pullNamed,
  pushNamed,
  removeImage,
  settingsAt,
} from '@backlot/vmhost'
import type { TSchema } from '@sinclair/typebox'
import type { Command } from '../command.ts'
import { buildImageHere } from '../compose/image-build.ts'
import { readFlags } from '../flags.ts'
import { print, printJson } from '../terminal/output.ts'
import { startProgress } from '../terminal/progress.ts'
import { isTerminal, table } from '../terminal/table.ts'

const known = Object.values(recipes)
  .map(({ name, summary }) => `  ${name}  ${summary}`)
  .join('\n')

const { chunkSizeMb, compression } = vmHost.pushVm.body.properties
const importing = vmHost.importImage.body.properties

export const command: Command = {
  summary: 'Build, import, pull, push and list images for virtual machines.',
  usage: `backlot image build NAME [--output DIR] [--again] [--json]
    Build an image out of Debian's packages. No root is needed; linux-desktop needs mmdebstrap, and of a user ids in
    /etc/subuid. One that stands already and is of the same recipe is left as it is.
backlot image import SOURCE [AS] [--os linux|windows] [--output DIR] [--json]
    Make an image of a disk: of a path or an address. Any format that qemu-img reads is converted; zip, gzip, zstd, xz and
    bzip2 are unpacked; a disc (ISO) becomes an empty disk and a disc to install from. AS is NAME:TAG.
backlot image ls [--output DIR] [--json]
    List the images of this machine.
backlot image pull IMAGE [--output DIR] [--json]
    Pull an image of a registry. What is here already is not fetched again.
backlot image push IMAGE [AS] [--chunk-size-mb N] [--compression zstd|gzip] [--output DIR] [--json]
    Push an image of this machine to a registry, under the name AS where one is given.
backlot image inspect IMAGE [--output DIR] [--json]
    Show an image of this machine.
backlot image rm IMAGE [--output DIR] [--json]
    Remove an image of this machine. VMs that were made of it stay as they are.
backlot image prune [--output DIR] [--json]
    Remove all that was pulled. VMs, and images that were built here, stay as they are.

Recipes:
${known}

IMAGE is NAME:TAG, or REGISTRY/ORGANIZATION/NAME:TAG; registry and organization are those of \`backlot host config\` where
it does not say, the tag is latest. Registries are asked with what \`docker login\` keeps.

  --output DIR          Folder that holds images.
                        Without it: the cache directory of the VM host's configuration.
  --again               Build it even where it stands already: with packages that are new since then.
  --os OS               ${importing.os.description} Default: ${importing.os.default}.
  --chunk-size-mb N     ${chunkSizeMb.description} Default: ${chunkSizeMb.default}.
  --compression WAY     ${compression.description} Default: ${compression.default}.
  --json                Print JSON; always where standard output is no terminal.`,
  async run(args) {
    const { values, positionals } = readFlags('image', {
      args: [...args],
      allowPositionals: true,
      options: {
        output: { type: 'string' },
        again: { type: 'boolean' },
        os: { type: 'string' },
        'chunk-size-mb': { type: 'string' },
        compression: { type: 'string' },
        json: { type: 'boolean' },
      },
    })
    const [verb = '', ...names] = positionals
    const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
    if (action === undefined || names.length < action.names[0] || names.length > action.names[1]) {
      throw new Failure('usage', 'Call it as `backlot image --help` shows.')
    }
    const settings = await settingsAt(placesOf(process.env)).read()
    const places = values.output === undefined ? settings : { ...settings, cacheDirectory: resolve(values.output) }
    const chunk = checked('chunkSizeMb', chunkSizeMb, values['chunk-size-mb']) as number | undefined
    const way = checked('compression', compression, values.compression) as 'zstd' | 'gzip' | undefined
    const push = { ...(chunk !== undefined && { chunkSizeMb: chunk }), ...(way !== undefined && { compression: way }) }
    const os = checked('os', importing.os, values.os) as 'linux' | 'windows' | undefined
    const json = values.json ?? !isTerminal()
    await action.run({ places, json, again: values.again ?? false, name: names[0] ?? '', as: names[1], push, os })
    return 0
  },
}

const checked = (name: string, schema: TSchema, text: string | undefined): unknown => {
  if (text === undefined) return undefined
  const value = fromText(schema, text)
  const fault = fieldFault(name, schema, value)
  if (fault !== undefined) throw new Failure('invalid_argument', fault, { argument: name })
  return value
}

interface Call {
  readonly places: Parameters<typeof pullNamed>[1] & Parameters<typeof importImage>[1]
  readonly json: boolean
  readonly again: boolean
  readonly name: string
  readonly as: string | undefined
  readonly push: Parameters<typeof pushNamed>[3]
  readonly os: 'linux' | 'windows' | undefined
}

/** Does work that can be interrupted, and shows how far it is. */
const shown = async <T>(name: string, work: (work: Parameters<typeof pullNamed>[2]) => Promise<T>): Promise<T> => {
  const interrupted = new AbortController()
  const reason = new Failure('cancelled', 'It was interrupted; what has arrived is kept for the next time.')
  const abort = () => interrupted.abort(reason)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, abort)
  using progress = startProgress()
  let now = ''
  try {
    return await work({
      signal: interrupted.signal,
      step(step) {
        now = step
        progress.show(`${name}: ${step}`)
      },
      progress: (done, total) => progress.show(`${name}: ${now}`, total ? (100 * done) / total : undefined),
    })
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, abort)
  }
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MB`

const actions: Readonly<Record<string, { names: readonly [number, number]; run(call: Call): Promise<void> }>> = {
  build: {
    names: [1, 1],
    async run({ places, json, again, name }) {
      const { folder, image, wasThere } = await shown(name, ({ signal, step, progress }) => {
        let last = ''
        return buildImageHere(name, {
          cacheDirectory: places.cacheDirectory,
          again,
          signal,
          onProgress({ step: now, percent }) {
            if (now !== last) step(now)
            last = now
            if (percent !== undefined) progress(percent, 100)
          },
        })
      })
      if (json) return printJson({ name: image.name, tag: image.tag, folder, wasThere })
      await print(`${image.name}:${image.tag} ${wasThere ? 'stands already' : 'is built'}: ${folder}`)
    },
  },
  import: {
    names: [1, 2],
    async run({ places, json, name: source, as, os }) {
      const path = /^https?:/i.test(source) ? source : resolve(source)
      const planned = plannedImport(path, as, os)
      const { folder, about } = await shown(source, (work) => importImage(planned, places, work))
      if (json) return printJson({ image: `${about.name}:${about.tag}`, folder })
      await print(`${about.name}:${about.tag} is here: ${folder}`)
    },
  },
  ls: {
    names: [0, 0],
    async run({ places: { cacheDirectory }, json }) {
      const images = await imagesIn(cacheDirectory)
      if (json) return printJson(images)
      if (images.length === 0) {
        return print(`There are no images in "${cacheDirectory}". \`backlot image build\` makes one.`)
      }
      const rows = images.map(({ repository, tag, registry, source, os, bytes }) => ({
        image: `${repository}:${tag}`,
        from: registry ?? source ?? 'built here',
        os,
        size: megabytes(bytes),
      }))
      await print(table(rows))
    },
  },
  pull: {
    names: [1, 1],
    async run({ places, json, name }) {
      const { image, digest, folder } = await shown(name, (work) => pullNamed(name, places, work))
      if (json) return printJson({ image, digest, folder })
      await print(`${image} is here: ${folder}`)
    },
  },
  push: {
    names: [1, 2],
    async run({ places, json, name, as, push }) {
      const pushed = await shown(name, (work) => pushNamed(name, as ?? name, places, push, work))
      if (json) return printJson(pushed)
      await print(`${pushed.image} is pushed: ${pushed.digest}`)
    },
  },
  inspect: {
    names: [1, 1],
    async run({ places, name }) {
      await printJson(await inspectImage(name, places))
    },
  },
  rm: {
    names: [1, 1],
    async run({ places, json, name }) {
      await shown(name, (work) => removeImage(name, places, work))
      if (json) return printJson({ removed: name })
      await print(`${name} is removed.`)
    },
  },
  prune: {
    names: [0, 0],
    async run({ places, json }) {
      const freedBytes = await prune(new ImageStore(places.cacheDirectory))
      if (json) return printJson({ freedBytes })
      await print(`What was pulled is removed: ${megabytes(freedBytes)} freed.`)
    },
  },
}
