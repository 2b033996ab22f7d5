/** A real registry for a test: Debian's `docker-registry` on a free port, with files of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

/** A running registry. */
export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly address: string
  readonly folder: string
}

const freePort = (): Promise<number> =>
  new Promise((settle) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => settle(port))
    })
  })

/** Starts one; with `users`, the text of an htpasswd file, it asks for one of them. */
export const startRegistry = async (users?: string): Promise<Registry> => {
  const program = Bun.which('docker-registry')
  if (program === null) throw new Error('docker-registry is not installed: apt-get install docker-registry')
  const folder = mkdtempSync(join(tmpdir(), 'backlot-registry-'))
  const address = `127.0.0.1:${await freePort()}`
  const passwords = join(folder, 'htpasswd')
  if (users !== undefined) writeFileSync(passwords, users)
  const config = [
    'version: 0.1',
    'log: { level: warn }',
    `storage: { filesystem: { rootdirectory: ${join(folder, 'data')} }, delete: { enabled: true } }`,
    `http: { addr: "${address}" }`,
    ...(users === undefined ? [] : [`auth: { htpasswd: { realm: tests, path: ${passwords} } }`]),
  ]
  writeFileSync(join(folder, 'config.yml'), config.join('\n'))
  const child = Bun.spawn([program, 'serve', join(folder, 'config.yml')], { stdout: 'ignore', stderr: 'ignore' })
  await until('an answer of the registry', () =>
    fetch(`http://${address}/v2/`).then(
      () => true,
      () => false,
    ),
  )
  return {
    address,
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
