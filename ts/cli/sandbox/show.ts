/** Sandboxes as people read them. */
import type { SandboxInfo } from '@backlot/sdk'
import { print, say } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'

const line = ({ name, status, source, isolation, osType, createdAt, expiresAt, ephemeral }: SandboxInfo) => ({
  name,
  status,
  source,
  isolation,
  os: osType,
  created: createdAt,
  expires: expiresAt,
  ephemeral: ephemeral ? 'yes' : null,
})

/** Prints a table, and says what differs from what was asked. */
export const show = async (infos: readonly SandboxInfo[]): Promise<void> => {
  if (infos.length === 0) return say('There are no sandboxes. `backlot sandbox create` makes one.')
  await print(table(infos.map(line)))
  for (const { name, warnings } of infos) for (const warning of warnings) await say(`${name}: ${warning}`)
}
