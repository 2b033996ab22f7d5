/** The workspace that is packed, and what its manifest owns. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The root of the checkout. */
export const root = join(import.meta.dir, '../..')

/** What the manifest of the workspace says of all packages. */
export interface Workspace {
  readonly version: string
  readonly license: string
  readonly repository: { readonly type: 'git'; readonly url: string }
}

/** The manifest of the workspace. */
export const workspace: Workspace = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The packages of others that a package of the workspace imports, with their versions. */
export const importedBy = (name: string): Readonly<Record<string, string>> => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'ts', name, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  return Object.fromEntries(Object.entries(dependencies).filter(([each]) => !each.startsWith('@backlot/')))
}

/** The address of the repository for people: `https://github.com/OWNER/NAME`. */
export const repositoryUrl = workspace.repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

const [, owner = '', repository = ''] = /^https:\/\/github\.com\/([^/]+)\/([^/]+)$/.exec(repositoryUrl) ?? []

/** The name in the MCP registry, whose first part is the owner of the repository. */
export const mcpName = `io.github.${owner}/${repository}`
