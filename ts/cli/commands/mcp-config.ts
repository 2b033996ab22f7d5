/** `backlot mcp-config`: what a host's configuration must say to start the tools. */
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import { shellWord } from '@backlot/contract/text/shell-text'
import type { Command } from '../command.ts'
import { programCalled } from '../executable.ts'
import { readFlags } from '../flags.ts'
import { print, say } from '../terminal/output.ts'

interface Start {
  readonly command: string
  readonly args: readonly string[]
  /** Hosts hand on little of their own environment; without these the desktop is not found. */
  readonly env: Readonly<Record<string, string>>
}

interface Host {
  /** Where the snippet belongs. */
  readonly place: string
  readonly snippet: (start: Start) => string
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)
const mcpServers = (start: Start): string => json({ mcpServers: { backlot: start } })
/** A TOML basic string takes the escapes of a JSON string. */
const toml = (value: string): string => JSON.stringify(value)

/** Each host with its own form. */
const hosts: Readonly<Record<string, Host>> = {
  'claude-desktop': { place: '~/.config/Claude/claude_desktop_config.json', snippet: mcpServers },
  'claude-code': {
    place: 'a shell, once',
    snippet: ({ command, args, env }) => {
      const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
      return ['claude', 'mcp', 'add', 'backlot', ...variables, '--', command, ...args].map(shellWord).join(' ')
    },
  },
  cursor: { place: '~/.cursor/mcp.json', snippet: mcpServers },
  vscode: {
    place: '.vscode/mcp.json',
    snippet: (start) => json({ servers: { backlot: { type: 'stdio', ...start } } }),
  },
  windsurf: { place: '~/.codeium/windsurf/mcp_config.json', snippet: mcpServers },
  zed: {
    place: '~/.config/zed/settings.json',
    snippet: (start) => json({ context_servers: { backlot: { source: 'custom', ...start } } }),
  },
  codex: {
    place: '~/.codex/config.toml',
    snippet: ({ command, args, env }) =>
      [
        '[mcp_servers.backlot]',
        `command = ${toml(command)}`,
        `args = [${args.map(toml).join(', ')}]`,
        `env = { ${Object.entries(env)
          .map(([name, value]) => `${name} = ${toml(value)}`)
          .join(', ')} }`,
      ].join('\n'),
  },
  'gemini-cli': { place: '~/.gemini/settings.json', snippet: mcpServers },
  generic: { place: "the host's list of MCP servers", snippet: (start) => json(start) },
}

/** What leads to this desktop, as far as it is set here. */
const desktopVariables = (): Record<string, string> =>
  Object.fromEntries(
    ['DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', environment.home].flatMap((name) => {
      const value = process.env[name]
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )

export const command: Command = {
  summary: "Print what an MCP host's configuration must say.",
  usage: `backlot mcp-config --client NAME

  --client NAME  ${Object.keys(hosts).join(', ')}

The snippet goes to standard output, the place where it belongs to standard error.`,
  async run(args) {
    const { values } = readFlags('mcp-config', { args: [...args], options: { client: { type: 'string' } } })
    const host = values.client !== undefined && Object.hasOwn(hosts, values.client) ? hosts[values.client] : undefined
    if (host === undefined) {
      const what =
        values.client === undefined ? '`--client` is missing' : `"${values.client}" is no client that is known`
      throw new Failure('usage', `${what}. Known: ${Object.keys(hosts).join(', ')}; \`generic\` suits every other.`)
    }
    const [executable, ...words] = programCalled('backlot').command
    await print(host.snippet({ command: executable, args: [...words, 'mcp'], env: desktopVariables() }))
    await say(`Put it into ${host.place}.`)
    return 0
  },
}
