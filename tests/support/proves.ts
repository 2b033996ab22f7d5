/** Ties a test to the requirements it proves. */
import { appendFileSync } from 'node:fs'
import { type RequirementId, requirements } from '../spec/index.ts'

/** One to five requirement ids. */
export type Cited = readonly [RequirementId, RequirementId?, RequirementId?, RequirementId?, RequirementId?]

const known = new Set(requirements.map((requirement) => requirement.id))

/**
 * A test body that proves requirements: `test('…', proving(['vmhost.config.get'], async () => { … }))`.
 * The ids are written, a line each, to the file that `BACKLOT_PROOFS` names, and only after `body` has passed.
 * Throws when an id is unknown, or when more than five are cited.
 */
export function proving(ids: Cited, body: () => void | Promise<void>): () => Promise<void> {
  if (ids.length > 5) throw new Error(`a test proves at most five requirements, not ${ids.length}: split the test`)
  const unknown = ids.filter((id) => id !== undefined && !known.has(id))
  if (unknown.length > 0) throw new Error(`no requirement "${unknown.join('", "')}" stands in tests/spec`)
  return async () => {
    await body()
    const file = process.env.BACKLOT_PROOFS
    if (file) appendFileSync(file, `${ids.join('\n')}\n`)
  }
}
