/** `backlot mcp`: the tools for an MCP client, over standard input and output. */
import { environment } from '@backlot/contract/limits'
import { fullAccess } from '@backlot/driver/edges/access'
import { serveMcp } from '@backlot/driver/edges/mcp/mcp'
import { StdioTransport } from '@backlot/driver/edges/mcp/stdio'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { reachOf } from '../tool-call.ts'

export const command: Command = {
  summary: 'Serve the tools to an MCP client over standard input and output.',
  usage: `backlot mcp [--read-only] [--allow TOOL,…] [--socket PATH] [--direct]

  --read-only      Offer only tools that change nothing.
  --allow TOOL,…   Offer only these tools; may be given again.
  --socket PATH    Use the daemon on that socket; started there when absent.
  --direct         Run the tools in this process, without a daemon; so do
                   --no-daemon-relaunch and ${environment.noRelaunch}=1.

Ends when standard input ends: calls that act are stopped then, and every
request is answered.`,
  async run(args) {
    const { values } = readFlags('mcp', {
      args: [...args],
      options: {
        'read-only': { type: 'boolean' },
        allow: { type: 'string', multiple: true },
        socket: { type: 'string' },
        direct: { type: 'boolean' },
        'no-daemon-relaunch': { type: 'boolean' },
      },
    })
    const isRestricted = values['read-only'] === true || values.allow !== undefined
    const access = isRestricted
      ? (await import('../driver-flags.ts')).accessOf(values['read-only'] === true, values.allow)
      : fullAccess
    const isDirect = values.direct || values['no-daemon-relaunch'] || process.env[environment.noRelaunch] === '1'
    await using runner = isDirect
      ? (await import('@backlot/driver/edges/direct')).directRunner(access)
      : (await import('@backlot/driver/edges/client/proxy')).daemonRunner(reachOf(values.socket), access)
    const transport = new StdioTransport(Bun.stdin.stream(), Bun.stdout.writer())
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => void transport.close())
    await serveMcp(runner, transport)
    return 0
  },
}
