/** A real registry for a test: Debian's `docker-registry` on a free port, with files of its own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** A certificate that is its own authority, for `0.0.0.0`, and its key, as PEM files. */
export interface Certificate {
  readonly certificate: string
  readonly key: string
  /** Whether callers have to show it, too. */
  readonly isAskedFor?: boolean
}

/** Has `openssl` make one in the folder. */
export const makeCertificate = (folder: string): Certificate => {
  const [certificate, key] = [join(folder, 'registry.crt'), join(folder, 'registry.key')]
  const words = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const name = ['-subj', '/CN=registry', '-addext', 'subjectAltName=IP:0.0.0.0', '-out', certificate, '-keyout', key]
  const { exitCode, stderr } = Bun.spawnSync(['openssl', 'req', ...words, ...name])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return { certificate, key }
}

/**
 * Starts one; with `users`, the text of an htpasswd file, it asks for one of them. With a certificate it speaks https, under the
 * address `0.0.0.0:PORT`, which reaches this machine and is none of its loopback's.
 */
export const startRegistry = async (users?: string, certified?: Certificate): Promise<Registry> => {
  const program = Bun.which('docker-registry')
  if (program === null) throw new Error('docker-registry is not installed: apt-get install docker-registry')
  const folder = mkdtempSync(join(tmpdir(), 'backlot-registry-'))
  const address = `${certified === undefined ? '127.0.0.1' : '0.0.0.0'}:${await freePort()}`
  const passwords = join(folder, 'htpasswd')
  if (users !== undefined) writeFileSync(passwords, users)
  const config = [
    'version: 0.1',
    'log: { level: warn }',
    `storage: { filesystem: { rootdirectory: ${join(folder, 'data')} }, delete: { enabled: true } }`,
    `http: { addr: "${address}"${certified === undefined ? '' : `, tls: { certificate: ${certified.certificate}, key: ${certified.key}${certified.isAskedFor ? `, clientcas: [${certified.certificate}]` : ''} }`} }`,
    ...(users === undefined ? [] : [`auth: { htpasswd: { realm: tests, path: ${passwords} } }`]),
  ]
  writeFileSync(join(folder, 'config.yml'), config.join('\n'))
  const child = Bun.spawn([program, 'serve', join(folder, 'config.yml')], { stdout: 'ignore', stderr: 'ignore' })
  const own = certified && { cert: readFileSync(certified.certificate), key: readFileSync(certified.key) }
  await until('an answer of the registry', () =>
    fetch(`http${certified === undefined ? '' : 's'}://${address}/v2/`, {
      tls: { rejectUnauthorized: false, ...own },
    }).then(
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
