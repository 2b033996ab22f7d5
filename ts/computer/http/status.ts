/** What the server says about itself. */
import { computer } from '@backlot/contract/computer'
import type { Command } from '@backlot/contract/computer/command'
import { version } from '@backlot/contract/version'
import type { Abilities } from '../abilities.ts'

/** `GET /status`, for everybody. */
export const statusOf = (abilities: Abilities) => ({
  status: 'ok',
  os_type: abilities.osType,
  features: abilities.features,
  phase: abilities.phase,
  ...(abilities.reason !== undefined && { reason: abilities.reason }),
  ...(abilities.percent !== undefined && { percent: abilities.percent }),
  server: 'backlot',
  version,
})

/** `GET /commands`: those of this kind of computer, and why some do not work now. */
export const commandsOf = ({ osType, names, unavailable }: Abilities) => ({
  os_type: osType,
  commands: Object.fromEntries(
    Object.entries<Command>(computer)
      .filter(([name]) => names.has(name))
      .map(([name, { summary, params, aliases = [] }]) => [
        name,
        { summary, aliases, params: paramsOf(params), ...reason(name, unavailable) },
      ]),
  ),
})

const paramsOf = ({ properties, required = [] }: Command['params']) =>
  Object.entries(properties).map(([name, { description, type, default: usual = null }]) => ({
    name,
    required: required.includes(name),
    default: usual,
    type: type ?? 'any',
    description: description ?? '',
  }))

const reason = (name: string, unavailable: Abilities['unavailable']) => {
  const why = unavailable[computer[name as keyof typeof computer].needs]
  return why === undefined ? {} : { unavailable: why }
}
