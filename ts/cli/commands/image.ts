/** `backlot image`: builds and lists the images that VMs are made from. */
import { resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import { buildImage, listImages, recipes } from '@backlot/imagebuild'
import { settingsAt } from '@backlot/vmhost'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { print, printJson } from '../output.ts'
import { startProgress } from '../progress.ts'
import { isTerminal, table } from '../table.ts'

const known = Object.values(recipes)
  .map(({ name, summary }) => `  ${name}  ${summary}`)
  .join('\n')

export const command: Command = {
  summary: 'Build and list images for virtual machines.',
  usage: `backlot image build NAME [--output DIR] [--again] [--json]
    Build an image out of Debian's packages, which apt fetches and nothing installs; no root is needed.
    One that stands already and is of the same recipe is left as it is.
backlot image ls [--output DIR] [--json]
    List the images of this machine.

Recipes:
${known}

  --output DIR  Folder that holds images; the cache directory of the VM host's configuration when absent.
  --again       Build it even where it stands already: with packages that are new since then.
  --json        Print JSON; always where standard output is no terminal.`,
  async run(args) {
    const { values, positionals } = readFlags('image', {
      args: [...args],
      allowPositionals: true,
      options: { output: { type: 'string' }, again: { type: 'boolean' }, json: { type: 'boolean' } },
    })
    const [verb = '', ...names] = positionals
    const directory =
      values.output === undefined
        ? (await settingsAt(placesOf(process.env)).read()).cacheDirectory
        : resolve(values.output)
    const json = values.json ?? !isTerminal()
    const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
    if (action === undefined || names.length !== action.names) {
      throw new Failure('usage', 'Call it as `backlot image build NAME` or `backlot image ls`.')
    }
    await action.run({ directory, json, again: values.again ?? false, name: names[0] ?? '' })
    return 0
  },
}

interface Call {
  readonly directory: string
  readonly json: boolean
  readonly again: boolean
  readonly name: string
}

const actions: Readonly<Record<string, { names: number; run(call: Call): Promise<void> }>> = {
  build: {
    names: 1,
    async run({ directory, json, again, name }) {
      const interrupted = new AbortController()
      const abort = () => interrupted.abort()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, abort)
      using progress = startProgress()
      const { folder, image, wasThere } = await buildImage(name, {
        cacheDirectory: directory,
        again,
        signal: interrupted.signal,
        onProgress: ({ step, percent }) => progress.show(step, percent),
      })
      progress[Symbol.dispose]()
      if (json) return printJson({ name: image.name, tag: image.tag, folder, wasThere })
      await print(`${image.name}:${image.tag} ${wasThere ? 'stands already' : 'is built'}: ${folder}`)
    },
  },
  ls: {
    names: 0,
    async run({ directory, json }) {
      const images = (await listImages(directory)).map(({ image, folder, bytes }) => ({
        name: image.name,
        tag: image.tag,
        os: image.os,
        bytes,
        folder,
      }))
      if (json) return printJson(images)
      if (images.length === 0) return print(`There are no images in "${directory}". \`backlot image build\` makes one.`)
      await print(
        table(images.map(({ bytes, ...image }) => ({ ...image, size: `${Math.ceil(bytes / 1024 ** 2)} MB` }))),
      )
    },
  },
}
