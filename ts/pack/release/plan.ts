/** What a release publishes, in which order, and doing it; what is there already is left alone. */
import type { Tarball } from '../folder.ts'
import { namedBy } from '../made.ts'
import { integrityOf, publishedIntegrity, publishTarball } from './registry.ts'

/** A tarball, and what the registry has under its name and version: nothing, the same bytes, or others. */
export interface Publication {
  readonly tarball: Tarball
  readonly state: 'absent' | 'there' | 'differs'
}

/** Asks the registry for each tarball; the order is kept. */
export const planOf = (registry: string, tarballs: readonly Tarball[]): Promise<Publication[]> =>
  Promise.all(
    tarballs.map(async (tarball): Promise<Publication> => {
      const published = await publishedIntegrity(registry, tarball.name, tarball.version)
      if (published === null) return { tarball, state: 'absent' }
      return { tarball, state: published === (await integrityOf(tarball)) ? 'there' : 'differs' }
    }),
  )

/** Why the plan cannot be carried out, a sentence each; none where it can. */
export const objections = async (registry: string, plan: readonly Publication[]): Promise<string[]> => {
  const found: string[] = []
  const before = new Set<string>()
  for (const { tarball, state } of plan) {
    const { name, version } = tarball
    if (state === 'differs') {
      found.push(`"${name}@${version}" is published with other content: raise the version in package.json.`)
    }
    for (const [other, wanted] of namedBy(tarball)) {
      if (before.has(`${other}@${wanted}`) || (await publishedIntegrity(registry, other, wanted)) !== null) continue
      found.push(`"${name}" names "${other}@${wanted}", which is not published: pack it on its platform first.`)
    }
    before.add(`${name}@${version}`)
  }
  return found
}

/** Milliseconds after which a registry that took a package has to show it. */
const shownMs = 120_000

/**
 * Publishes what is absent, one after another, each once the one before it can be installed. Interrupted, it is called
 * again with a new plan.
 */
export const publishPlan = async (
  registry: string,
  plan: readonly Publication[],
  say: (line: string) => void,
): Promise<void> => {
  for (const { tarball, state } of plan) {
    const { name, version } = tarball
    if (state === 'there') {
      say(`${name}@${version} is there already`)
      continue
    }
    await publishTarball(registry, tarball)
    const deadline = performance.now() + shownMs
    while ((await publishedIntegrity(registry, name, version)) !== (await integrityOf(tarball))) {
      if (performance.now() > deadline) {
        throw new Error(`"${name}@${version}" was published, but the registry does not show it: try again later.`)
      }
      await Bun.sleep(500)
    }
    say(`${name}@${version} is published`)
  }
}
