import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { post, startComputer, type TestComputer } from '../support/computer.ts'
import { until } from '../support/until.ts'

let computer: TestComputer

beforeAll(async () => {
  computer = await startComputer(['--port', '0'])
})

afterAll(() => computer[Symbol.asyncDispose]())

const run = (command: string, more: object = {}) => computer.send('run_command', { command, ...more })

/** Whether any process of a session of ours runs a command line that holds the mark. */
const lives = async (mark: string): Promise<boolean> => {
  const child = Bun.spawn(['pgrep', '-f', `[${mark[0]}]${mark.slice(1)}`], { stdout: 'ignore' })
  return (await child.exited) === 0
}

test('gives both outputs and the status, which is a success whatever it is', async () => {
  expect(await run('echo out; echo err >&2; exit 7')).toEqual({
    success: true,
    stdout: 'out\n',
    stderr: 'err\n',
    return_code: 7,
    returncode: 7,
  })
  expect(await run('kill -9 $$')).toMatchObject({ return_code: 137 })
  expect(await run('cat', { stdin: 'Grüße\n' })).toMatchObject({ stdout: 'Grüße\n' })
  expect(await run('echo "$A"; pwd', { env: { A: 'ä b' }, cwd: '/usr' })).toMatchObject({ stdout: 'ä b\n/usr\n' })
  expect(await run('true', { cwd: '/nowhere' })).toMatchObject({ success: false, code: 'invalid_argument' })
})

test('decodes leniently', async () => {
  expect(await run(String.raw`printf 'a\377b'`)).toMatchObject({ stdout: 'a\ufffdb' })
})

test('gives all of a long output, and of one that is too long the end, and says so', async () => {
  const { stdout, truncated } = await run('seq 1 200000')
  expect([(stdout as string).split('\n').length, truncated]).toEqual([200_001, undefined])
  const long = await run('seq 1 4000000')
  const end = (long.stdout as string).slice(-16)
  expect([long.return_code, end, long.truncated]).toEqual([0, '3999999\n4000000\n', true])
})

test('answers when the command ends, and leaves running what it started in the background', async () => {
  const { stdout } = await run('(while :; do echo tick-background-71; sleep 0.05; done) & echo $!; seq 1 5000')
  // It may write in the middle of a line of the other, who writes by blocks.
  const [pid = '', ...numbers] = (stdout as string).replaceAll('tick-background-71\n', '').split('\n')
  expect(numbers.filter((line) => line !== '')).toEqual(Array.from({ length: 5_000 }, (_, index) => String(index + 1)))
  // It would die of the pipe that nobody reads.
  await run('sleep 0.3')
  expect(await run(`kill -0 ${pid}`)).toMatchObject({ return_code: 0 })
  await run(`kill ${pid}`)
})

test('nothing is left when the time is over, whatever it started', async () => {
  const mark = 'sleep 611.25'
  const answer = await run(`echo begun; (setsid ${mark} &) ; (${mark} & ${mark}); wait`, { timeout: 1 })
  expect(answer).toMatchObject({
    success: false,
    code: 'command_timed_out',
    error: 'Command timed out after 1s',
    stdout: 'begun\n',
  })
  await until('all to end', async () => !(await lives(mark)))
})

test('nothing is left when the caller goes away', async () => {
  const mark = 'sleep 612.75'
  const gone = new AbortController()
  const asked = fetch(`${computer.url}/cmd`, {
    method: 'POST',
    body: JSON.stringify({ command: 'run_command', params: { command: `${mark} | ${mark}` } }),
    signal: gone.signal,
  }).catch(() => undefined)
  await until('the command to run', () => lives(mark))
  gone.abort()
  await asked
  await until('all to end', async () => !(await lives(mark)))
})

test('a caller of an event stream that goes away ends the command too', async () => {
  const mark = 'sleep 613.5'
  const gone = new AbortController()
  const { body } = await fetch(`${computer.url}/cmd`, {
    method: 'POST',
    headers: { Accept: 'text/event-stream' },
    body: JSON.stringify({ command: 'run_command', params: { command: `echo begun; ${mark}` } }),
    signal: gone.signal,
  })
  await body?.getReader().read()
  // The first event may tell of the shell, which is still to become the command.
  await until('the command', () => lives(mark))
  gone.abort()
  await until('all to end', async () => !(await lives(mark)))
})

test('a thousand small commands at once are all answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const response = await post(computer.url, { command: 'file_exists', params: { path: `/proc/${index}` } })
      return response.status
    }),
  )
  expect(new Set(answers)).toEqual(new Set([200]))
})

test('the end of the server ends its commands with all that they started, and leaves none halted', async () => {
  await using other = await startComputer(['--port', '0'])
  const pids = join(other.home, 'pids')
  const command = `sleep 1000 & echo $! >> ${pids}; wait`
  // What their callers are told, who are cut off, is of no interest here.
  for (let count = 0; count < 10; count += 1) void other.send('run_command', { command }).catch(() => undefined)
  const begun = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n') : [])
  await until('all commands', () => begun().length === 10)
  expect(await other.end()).toBe(0)
  // What is halted and not killed stays.
  await until('all processes to end', () => begun().every((pid) => !existsSync(`/proc/${pid}/exe`)))
})
