/** What stands on the containers and images of this runtime, by which they are found again. */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { folders } from '../../state/folders.ts'
import { type ProcessIdentity, thisProgram } from '../../state/owner.ts'

/** Names of the labels. */
export const label = {
  /** Whose sandboxes these are: a hash of machine and state folder. */
  home: 'backlot.home',
  sandbox: 'backlot.sandbox',
  /** The process that started it, as JSON. */
  owner: 'backlot.owner',
  /** A container in which layers are built. */
  build: 'backlot.build',
  recipe: 'backlot.recipe',
  warnings: 'backlot.warnings',
  labels: 'backlot.labels',
  /** A snapshot, as JSON. */
  snapshot: 'backlot.snapshot',
} as const

/** The home of this program's sandboxes. */
export const home = (): string =>
  createHash('sha256')
    .update(JSON.stringify([hostname(), folders().state]))
    .digest('hex')
    .slice(0, 12)

/** The container of a sandbox. */
export const containerOf = (name: string): string => `backlot-${home()}-${name}`

/** What every container of ours bears. */
export const ownLabels = async (): Promise<Record<string, string>> => ({
  [label.home]: home(),
  [label.owner]: JSON.stringify(await thisProgram()),
})

/** The process that a label names; undefined where it names none. */
export const ownerIn = (text: string | undefined): ProcessIdentity | undefined => {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as ProcessIdentity)
  } catch {
    return undefined
  }
}
