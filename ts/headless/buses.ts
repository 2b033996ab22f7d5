/** The session bus and the accessibility bus of a desktop. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { escapeXml } from './escape-xml.ts'

/** Escapes a value of a D-Bus address (D-Bus Specification, "Server Addresses"). */
const escapeAddress = (path: string): string =>
  [...Buffer.from(path)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[-0-9A-Za-z_/.\\*]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`
    })
    .join('')

const limits = ['max_incoming_bytes', 'max_outgoing_bytes', 'max_message_size']
const counts = [
  'max_completed_connections',
  'max_connections_per_user',
  'max_match_rules_per_connection',
  'max_replies_per_connection',
]

const configuration = (socket: string): string => `<!DOCTYPE busconfig PUBLIC
 "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
<type>session</type>
<keep_umask/>
<listen>unix:path=${escapeXml(escapeAddress(socket))}</listen>
<auth>EXTERNAL</auth>
<standard_session_servicedirs/>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/>
<allow own="*"/>
</policy>
${limits.map((name) => `<limit name="${name}">1000000000</limit>`).join('\n')}
${counts.map((name) => `<limit name="${name}">50000</limit>`).join('\n')}
</busconfig>
`

/** Writes the session bus's configuration under the desktop's folder and gives the command that prints its address. */
export const sessionBusCommand = (daemon: string, folder: string): [string, ...string[]] => {
  const file = join(folder, 'session-bus.conf')
  writeFileSync(file, configuration(join(folder, 'bus')))
  return [daemon, `--config-file=${file}`, '--nofork', '--nopidfile', '--print-address=1']
}

/** The command that starts the accessibility bus, with accessibility switched on for all that starts after it. */
export const accessibilityBusCommand = (launcher: string): [string, ...string[]] => [
  launcher,
  '--launch-immediately',
  '--a11y=1',
]

/** Variables of the accessibility bus alone: it would write its switch into the person's settings. */
export const accessibilityBusVariables = { GSETTINGS_BACKEND: 'memory' }

/**
 * A shell command that ends with status 0 when `org.a11y.Bus` has answered `GetAddress`.
 * It waits for the name before it calls, because the call alone would have the session bus start a second launcher.
 */
export const accessibilityReadyCommand = (gdbus: string, seconds: number): [string, ...string[]] => [
  '/bin/sh',
  '-c',
  `"$0" wait --session --timeout "$1" org.a11y.Bus && exec "$0" call --session --timeout "$1" \
--dest org.a11y.Bus --object-path /org/a11y/bus --method org.a11y.Bus.GetAddress`,
  gdbus,
  String(seconds),
]
