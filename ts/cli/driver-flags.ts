/** Flags that `mcp` and the daemon share: which tools may be called. */
import { Failure } from '@backlot/contract/failure'
import { nearest, tools } from '@backlot/driver'
import type { Access } from '@backlot/driver/edges/access'

/** As the help shows them. */
export const accessFlags = `  --read-only        Offer only tools that change nothing.
  --allow TOOL,…     Offer only these tools; may be given again.`

/** Reads the access off the flags. Throws `usage` for a name that no tool has. */
export const accessOf = (readOnly: boolean, allow: readonly string[] | undefined): Access => {
  if (allow === undefined) return { readOnly, allow: null }
  const names = allow
    .flatMap((list) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const known = tools.map((tool) => tool.name)
  for (const name of names) {
    if (known.includes(name)) continue
    const near = nearest(name, known)
    throw new Failure(
      'usage',
      `"${name}" after \`--allow\` is no tool.${near === undefined ? '' : ` Did you mean "${near}"?`} Tools: ${known.join(', ')}.`,
    )
  }
  return { readOnly, allow: names }
}
