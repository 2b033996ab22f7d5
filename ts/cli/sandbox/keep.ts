/** `backlot sandbox info`, `suspend`, `resume`, `restart`, `delete` and `logs`: what is done to a sandbox by its name. */
import { Failure } from '@backlot/contract/failure'
import { Image, Sandbox } from '@backlot/sdk'
import { print, printJson } from '../terminal/output.ts'
import { knownOr } from './reach.ts'
import { show } from './show.ts'
import type { Verb } from './verb.ts'

/** Shows one. */
export const info: Verb = {
  words: [1, 1],
  flags: ['json'],
  async run({ name, where, json }) {
    const known = await knownOr(
      { name, where },
      () => Sandbox.getInfo(name, where),
      () => infoHere(name),
    )
    await (json ? printJson(known) : show([known]))
  },
}

const infoHere = async (name: string) => {
  const known = (await Sandbox.list({ runtime: 'local' })).find((each) => each.name === name)
  if (known !== undefined) return known
  throw new Failure('sandbox_not_found', `The sandbox "${name}" has just ended.`, { name })
}

/** Stops one and saves it. */
export const suspend: Verb = {
  words: [1, 1],
  run: ({ name, where }) =>
    knownOr(
      { name, where },
      () => Sandbox.suspend(name, where),
      (runtime) => runtime.suspend(name),
    ),
}

/** Continues one. */
export const resume: Verb = {
  words: [1, 1],
  run: ({ name, where }) =>
    knownOr(
      { name, where },
      async () => (await Sandbox.resume(name, where)).disconnect(),
      async (runtime) => void (await runtime.resume(Image.desktop(), name)),
    ),
}

/** Suspends one and continues it. */
export const restart: Verb = {
  words: [1, 1],
  run: ({ name, where }) =>
    knownOr(
      { name, where },
      async () => (await Sandbox.restart(name, where)).disconnect(),
      async (runtime) => {
        await runtime.suspend(name)
        await runtime.resume(Image.desktop(), name)
      },
    ),
}

/** Deletes one with its disk. */
export const remove: Verb = {
  words: [1, 1],
  run: ({ name, where }) =>
    knownOr(
      { name, where },
      () => Sandbox.delete(name, where),
      (runtime) => runtime.stop(name),
    ),
}

/** Prints the lines of its log. */
export const logs: Verb = {
  words: [1, 1],
  flags: ['follow'],
  async run({ name, where, flags }) {
    const options = { follow: flags.follow ?? false }
    await knownOr(
      { name, where },
      () => printAll(Sandbox.logs(name, { ...where, ...options })),
      (runtime) => printAll(runtime.logs(name, options)),
    )
  },
}

const printAll = async (lines: AsyncIterable<string>): Promise<void> => {
  for await (const line of lines) await print(line)
}
