import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceAt } from '../host/service.ts'
import { cp } from './cp.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backlot-cp-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A service whose guest has folders at every path, and takes and gives archives; real guests are copied to by the tests of the whole. */
const fakeHost = (archive?: Uint8Array<ArrayBuffer>) => {
  const paths: (string | null)[] = []
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    async fetch(request) {
      await request.bytes()
      const { pathname, searchParams } = new URL(request.url)
      const said = { stdout: 'folder\n', stderr: '', stdoutTruncated: false, stderrTruncated: false, exitCode: 0 }
      if (pathname.endsWith('/exec')) return Response.json(said)
      paths.push(searchParams.get('path'))
      return archive === undefined ? Response.json({}) : new Response(archive)
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
