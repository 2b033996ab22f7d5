/**
 * `bun tests/support/schema-run.ts SCHEMATHESIS SEED vmhost|computer`: a server, and schemathesis against it, to be run
 * apart from the machine: what is made up for it names folders and commands of any kind. Prints what schemathesis found,
 * and the server's defects.
 */
import { join } from 'node:path'
import { startComputer } from './computer.ts'
import { startVmHost } from './vmhost.ts'

const [program = '', seed = '1', kind = 'vmhost'] = process.argv.slice(2)

/** A registry that has nothing: images that are made up are asked of it, and no other is. */
await using empty = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('', { status: 404 }) })

/** What is checked of each server, and what is not asked because it is not answered at once. */
const kinds = {
  vmhost: {
    start: async () => {
      const host = await startVmHost()
      const registry = JSON.stringify({ registry: `127.0.0.1:${empty.port}` })
      await fetch(`${host.url}/svc/config`, { method: 'POST', body: registry })
      return host
    },
    checks: [
      'not_a_server_error',
      'status_code_conformance',
      'content_type_conformance',
      'response_schema_conformance',
    ],
    excluded: ['/svc/events', '/svc/vms/{name}/vnc'],
    phases: 'examples,coverage,fuzzing',
  },
  computer: {
    start: () => startComputer(),
    checks: ['not_a_server_error'],
    excluded: ['/files/watch', '/pty/{pid}/stream'],
    // Every boundary of sixty commands takes minutes.
    phases: 'fuzzing',
  },
} as const
/** A module that teaches it the bodies that it does not know. */
const [fixtures, hooks] = [join(import.meta.dir, 'fixtures'), 'tar_bodies']

const { start, checks, excluded, phases } = kinds[kind as keyof typeof kinds]

await using host = await start()
const child = Bun.spawn(
  [
    program,
    'run',
    `${host.url}/openapi.json`,
    '--checks',
    checks.join(','),
    ...excluded.flatMap((path) => ['--exclude-path', path]),
    ...['--phases', phases, '--max-examples', '20', '--seed', seed],
    ...['--continue-on-failure', '--request-timeout', '60', '--no-color', '--warnings', 'off'],
  ],
  { env: { ...process.env, SCHEMATHESIS_HOOKS: hooks, PYTHONPATH: fixtures }, stdout: 'pipe', stderr: 'inherit' },
)
const said = await child.stdout.text()
console.log(
  JSON.stringify({
    status: await child.exited,
    cases: Number(/(\d+) generated/.exec(said)?.[1] ?? 0),
    said: said.slice(-20_000),
    defects: host.log().match(/.*defect.*/g) ?? [],
  }),
)
