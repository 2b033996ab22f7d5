/** What hosts and registries of MCP servers are told: a bundle to install, and the entry of the registry. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeTool, tools } from '@backlot/driver'
import { type Zippable, zipSync } from 'fflate'
import { executableNotices } from './notices/binaries.ts'
import { noticesFile } from './notices/notices.ts'
import type { Platform } from './platforms.ts'
import { mcpName, repositoryUrl, root, type Workspace } from './workspace.ts'

/** At most 100 characters, which is what the registry shows. */
const description = 'Finds, reads and operates the windows of a desktop in the background, one call a tool'

/** The manifest of the bundle, in version 0.3 of its format. */
export const bundleManifest = ({ version, license, repository }: Workspace, { os }: Platform) => ({
  manifest_version: '0.3',
  name: 'backlot',
  display_name: 'Backlot',
  version,
  description,
  author: { name: 'The Backlot authors', url: repositoryUrl },
  repository: { type: repository.type, url: repositoryUrl },
  homepage: repositoryUrl,
  license,
  server: {
    type: 'binary',
    entry_point: 'server/backlot',
    mcp_config: {
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: hosts fill these in
      command: '${__dirname}/server/backlot',
      args: ['mcp'],
      env: { DISPLAY: '${user_config.display}' },
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: the last of them
    },
  },
  tools: tools.map((tool) => ({ name: tool.name, description: describeTool(tool).title })),
  compatibility: { platforms: [os] },
  user_config: {
    display: {
      type: 'string',
      title: 'X display',
      description: 'The display whose windows are operated, as in the variable DISPLAY.',
      default: ':0',
      required: false,
    },
  },
})

/** The name of the bundle's file, which is that of its address in a release. */
export const bundleName = ({ version }: Workspace, { name }: Platform): string => `backlot-${version}-${name}.mcpb`

/** A zip stores the hour without its zone, so the same hour is asked for everywhere. */
const hour = new Date(1985, 9, 26)

/** Writes the bundle, a zip with the executable, the same bytes for the same files; gives its path. */
export const makeBundle = async (from: Workspace, platform: Platform, executable: string, out: string) => {
  const file = (bytes: Uint8Array, mode: number): Zippable[string] => [
    bytes,
    { mtime: hour, os: 3, attrs: (0o100000 | mode) << 16, level: 6 },
  ]
  const files: Zippable = {
    'manifest.json': file(Buffer.from(`${JSON.stringify(bundleManifest(from, platform), null, 2)}\n`), 0o644),
    LICENSE: file(await readFile(join(root, 'LICENSE')), 0o644),
    [noticesFile]: file(Buffer.from(await executableNotices(platform, executable)), 0o644),
    'server/backlot': file(await readFile(executable), 0o755),
  }
  const path = join(out, bundleName(from, platform))
  await writeFile(path, zipSync(files))
  return path
}

/** The entry of the MCP registry, by its schema of 2025-12-11, for a bundle that was made. */
export const registryEntry = async (from: Workspace, platform: Platform, bundle: string) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: mcpName,
  title: 'Backlot',
  description,
  version: from.version,
  repository: { url: repositoryUrl, source: 'github' },
  websiteUrl: repositoryUrl,
  packages: [
    {
      registryType: 'npm',
      identifier: 'backlot',
      version: from.version,
      runtimeHint: 'npx',
      packageArguments: [{ type: 'positional', value: 'mcp' }],
      transport: { type: 'stdio' },
    },
    {
      registryType: 'mcpb',
      identifier: `${repositoryUrl}/releases/download/v${from.version}/${bundleName(from, platform)}`,
      fileSha256: createHash('sha256')
        .update(await readFile(bundle))
        .digest('hex'),
      transport: { type: 'stdio' },
    },
  ],
})
