/** `backlot doctor`: what works here, and what mends the rest. Starts nothing that stays. */
import { Failure } from '@backlot/contract/failure'
import type { Command } from '../command.ts'
import type { Finding } from '../doctor/finding.ts'
import { readFlags } from '../flags.ts'
import { print, printJson } from '../terminal/output.ts'

const marks = { works: '✓', limited: '!', missing: '✗' } as const

export const command: Command = {
  summary: 'Say which abilities work here, and the one command that mends each other.',
  usage: `backlot doctor [--json]

  --json  Print the findings as JSON: id, ability, state (works, limited, missing), detail, mend, essential.

Exit status 1 when something is missing without which nothing works.`,
  async run(args) {
    const { values } = readFlags('doctor', { args: [...args], options: { json: { type: 'boolean' } } })
    const findings = await examine()
    if (values.json) await printJson({ findings })
    else await print(findings.map(asText).join('\n'))
    return findings.some(({ essential, state }) => essential && state === 'missing') ? 1 : 0
  },
}

const asText = ({ ability, state, detail, mend }: Finding): string =>
  `${marks[state]} ${`${ability}:`.padEnd(22)} ${detail}${mend === null ? '' : `\n    mend: ${mend}`}`

/** All findings, those first that others stand on. */
const examine = async (): Promise<Finding[]> => {
  const [on, buses, parts, machines, boxes] = await Promise.all([
    import('../doctor/display.ts'),
    import('../doctor/buses.ts'),
    import('../doctor/parts.ts'),
    import('../doctor/machines.ts'),
    import('../doctor/sandboxes.ts'),
  ])
  const [look, bus, socket, guests, sandboxes] = await Promise.all([
    on.readDisplay(),
    buses.lookAtBuses(),
    parts.daemon(),
    machines.virtualMachines(),
    boxes.sandboxes(),
  ])
  const pids = look instanceof Failure ? new Set<number>() : look.pids
  return [
    { id: 'native_core', ability: 'native core', essential: true, ...on.nativeCore(look) },
    { id: 'display', ability: 'display', essential: true, ...on.display(look) },
    { id: 'window_manager', ability: 'window manager', essential: false, ...on.windowManager(look) },
    { id: 'capture', ability: 'pictures', essential: false, ...on.capture(look) },
    { id: 'background_input', ability: 'background input', essential: false, ...on.backgroundInput(look) },
    { id: 'session_bus', ability: 'session bus', essential: false, ...buses.session(bus) },
    { id: 'accessibility_bus', ability: 'accessibility bus', essential: false, ...buses.accessibility(bus) },
    {
      id: 'applications',
      ability: 'applications',
      essential: false,
      ...(look instanceof Failure ? on.noDisplay : buses.applications(bus, pids)),
    },
    { id: 'private_desktop', ability: 'private desktop', essential: false, ...parts.privateDesktop() },
    { id: 'sandboxes', ability: 'sandboxes', essential: false, ...sandboxes },
    { id: 'virtual_machines', ability: 'virtual machines', essential: false, ...guests },
    { id: 'daemon', ability: 'daemon', essential: true, ...socket },
  ]
}
