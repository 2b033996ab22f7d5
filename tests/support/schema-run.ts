/**
 * `bun tests/support/schema-run.ts SCHEMATHESIS SEED`: a VM host, and schemathesis against it, to be run apart from the
 * machine: what is made up for it names folders anywhere. Prints what schemathesis found, and the service's defects.
 */
import { startVmHost } from './vmhost.ts'

const [program = '', seed = '1'] = process.argv.slice(2)
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
]

await using host = await startVmHost()
const child = Bun.spawn(
  [
    program,
    'run',
    `${host.url}/openapi.json`,
    '--checks',
    checks.join(','),
    // Neither is answered at once: the one goes on for ever, the other is a WebSocket.
    ...['/svc/events', '/svc/vms/{name}/vnc'].flatMap((path) => ['--exclude-path', path]),
    ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '20', '--seed', seed],
    ...['--continue-on-failure', '--request-timeout', '60', '--no-color', '--warnings', 'off'],
  ],
  { stdout: 'pipe', stderr: 'inherit' },
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
