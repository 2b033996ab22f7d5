/** A registry of npm packages: what is there, and putting a tarball there. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Tarball } from '../folder.ts'

/** The registry that everybody asks. */
export const publicRegistry = 'https://registry.npmjs.org'

/** Milliseconds that an answer may take. */
const answerMs = 30_000

/** The hash of a tarball as registries write it. */
export const integrityOf = async ({ path }: Tarball): Promise<string> =>
  `sha512-${createHash('sha512')
    .update(await readFile(path))
    .digest('base64')}`

/** The hash of a version of a package that the registry has; null where it has none. Throws where it does not say. */
export const publishedIntegrity = async (registry: string, name: string, version: string): Promise<string | null> => {
  const url = `${registry}/${name.replace('/', '%2f')}`
  const response = await fetch(url, { signal: AbortSignal.timeout(answerMs), headers: { accept: 'application/json' } })
  if (response.status === 404) return null
  if (!response.ok) throw new Error(`"${url}" answered ${response.status}: ${await response.text()}`)
  const { versions = {} } = (await response.json()) as { versions?: Record<string, { dist?: { integrity?: string } }> }
  const found = versions[version]
  if (found === undefined) return null
  const integrity = found.dist?.integrity
  if (integrity === undefined) throw new Error(`"${url}" has ${version} without its hash`)
  return integrity
}

/** Publishes a tarball for everybody, with the credentials that bun finds. Throws with what bun says. */
export const publishTarball = async (registry: string, { name, version, path }: Tarball): Promise<void> => {
  const tag = version.includes('-') ? 'next' : 'latest'
  const command = ['publish', path, '--registry', registry, '--access', 'public', '--tag', tag]
  const child = Bun.spawn([process.execPath, ...command], {
    env: process.env,
    stdin: 'inherit',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`"${name}" was not published: ${said || out}`)
}
