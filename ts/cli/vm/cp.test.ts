import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceAt } from '../host/service.ts'
import { cp } from './cp.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backlot-cp-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * A service whose guest has the same at every path, takes what it is sent and gives always the same; real guests are copied to by
 * the tests of the whole.
 */
const fakeHost = (given?: Uint8Array<ArrayBuffer>, found = 'folder') => {
  const paths: (string | null)[] = []
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    async fetch(request) {
      await request.bytes()
      const { pathname, searchParams } = new URL(request.url)
      const said = { stdout: `${found}\n`, stderr: '', stdoutTruncated: false, stderrTruncated: false, exitCode: 0 }
      if (pathname.endsWith('/exec')) return Response.json(said)
      paths.push(searchParams.get('path'))
      return given === undefined ? Response.json({}) : new Response(given)
    },
  })
  const service = serviceAt(`http://127.0.0.1:${server.port}`)
  const copy = (...positionals: string[]) => cp.run({ service, positionals, values: {}, json: false })
  return { paths, copy, [Symbol.asyncDispose]: () => server.stop(true) }
}

test('what has no name of its own is copied into the folder, and never above it', async () => {
  const below = join(folder, 'above/below')
  mkdirSync(below, { recursive: true })
  await using host = fakeHost()
  await host.copy(`${below}/..`, 'one:/var/below')
  expect(host.paths).toEqual(['/var/below'])
  writeFileSync(join(below, 'file'), 'text')
  const packed = Bun.spawnSync(['tar', '-C', below, '-cf', '-', 'file']).stdout
  await using other = fakeHost(new Uint8Array(packed))
  const target = join(folder, 'into/deep')
  mkdirSync(target, { recursive: true })
  await other.copy('one:/etc/..', target)
  expect(readFileSync(join(target, 'file'), 'utf8')).toBe('text')
})

test('a file that nobody else may read in the guest is read by nobody else here', async () => {
  await using host = fakeHost(new TextEncoder().encode('secret'), 'file 600')
  const target = join(folder, 'secret')
  await host.copy('one:/etc/secret', target)
  expect([readFileSync(target, 'utf8'), statSync(target).mode & 0o777]).toEqual(['secret', 0o600])
})
