/** What the published packages say of themselves. */
import { noticesFile } from './notices/notices.ts'
import { executablePackage, nativePackage, type Platform } from './platforms.ts'
import { mcpName, repositoryUrl, type Workspace } from './workspace.ts'

/** A package.json. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

const shared = ({ version, license, repository }: Workspace, name: string, description: string) => ({
  name,
  version,
  description,
  license,
  repository,
  homepage: `${repositoryUrl}#readme`,
  bugs: `${repositoryUrl}/issues`,
})

/** The oldest Node that the packages run with. */
const engines = { node: '>=20' }

const ofPlatform = ({ os, cpu, libc }: Platform) => ({ os: [os], cpu: [cpu], libc: [libc] })

/** For each platform the package with a name in the version of the workspace. */
const onePerPlatform = (
  { version }: Workspace,
  platforms: readonly Platform[],
  packageOf: (platform: Platform) => string,
): Record<string, string> => Object.fromEntries(platforms.map((platform) => [packageOf(platform), version]))

/** `backlot`: starts the executable of the platform. */
export const launcherManifest = (from: Workspace, platforms: readonly Platform[]): Manifest => ({
  ...shared(from, 'backlot', 'A computer for an agent: desktop driver over MCP, computer server and VM host'),
  keywords: ['mcp', 'computer-use', 'agent', 'automation', 'desktop', 'vm'],
  mcpName,
  type: 'module',
  engines,
  bin: { backlot: 'bin/backlot.js', 'backlot-driver': 'bin/backlot-driver.js' },
  exports: {
    './executable': { types: './bin/executable.d.ts', default: './bin/executable.js' },
    './package.json': './package.json',
  },
  files: ['bin'],
  optionalDependencies: onePerPlatform(from, platforms, executablePackage),
})

/** The package with the executable of one platform. */
export const executableManifest = (from: Workspace, platform: Platform): Manifest => ({
  ...shared(from, executablePackage(platform), `The executable of Backlot for ${platform.name}`),
  ...ofPlatform(platform),
  files: ['bin', noticesFile],
  // Programs are mapped into memory from where they are.
  preferUnplugged: true,
})

/** What bundlers for browsers and for the edge take of the SDK. */
const fetchOnly = './fetch-only/index.js'

/** `@backlot/sdk`, with the packages of others that it imports. */
export const sdkManifest = (from: Workspace, dependencies: Readonly<Record<string, string>>): Manifest => ({
  ...shared(from, '@backlot/sdk', 'Computers for agents: sandboxes, desktops and devices to see and to operate'),
  keywords: ['sandbox', 'computer-use', 'agent', 'automation', 'desktop', 'vm', 'container', 'android'],
  type: 'module',
  engines,
  sideEffects: false,
  exports: {
    '.': { types: './index.d.ts', workerd: fetchOnly, browser: fetchOnly, default: './index.js' },
    './package.json': './package.json',
  },
  files: ['*.js', 'fetch-only', 'index.d.ts', noticesFile],
  dependencies,
  // What acts on this machine; a program that only talks to servers needs neither.
  peerDependencies: { '@backlot/native': from.version, backlot: from.version },
  peerDependenciesMeta: { '@backlot/native': { optional: true }, backlot: { optional: true } },
})

/** `@backlot/native`. */
export const nativeManifest = (from: Workspace, platforms: readonly Platform[]): Manifest => ({
  ...shared(from, '@backlot/native', 'The native core of Backlot: capture, accessibility, input, video, disks, QMP'),
  type: 'module',
  engines,
  exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
  files: ['index.js', 'index.d.ts'],
  optionalDependencies: onePerPlatform(from, platforms, nativePackage),
})

/** The package with the native core of one platform. */
export const bindingManifest = (from: Workspace, platform: Platform): Manifest => ({
  ...shared(from, nativePackage(platform), `The native core of Backlot for ${platform.name}`),
  ...ofPlatform(platform),
  main: bindingFile(platform),
  files: [bindingFile(platform), noticesFile],
  preferUnplugged: true,
})

/** The file of the native core of a platform, as napi-rs names it. */
export const bindingFile = ({ name }: Platform): string => `backlot.${name}.node`
