import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Sandbox } from '@backlot/sdk'
import { type FakePhone, startFakePhone } from '../support/fake-device.ts'
import { until } from '../support/until.ts'

let phone: FakePhone
let sandbox: Sandbox

beforeAll(async () => {
  phone = await startFakePhone()
  sandbox = await Sandbox.connect('phone', { httpUrl: phone.computer.url })
})

afterAll(async () => {
  await sandbox?.disconnect()
  await phone?.[Symbol.asyncDispose]()
})

const run = async (line: string) => (await sandbox.shell.run(line)).stdout

test('a shell of the device is talked to, resized, and ends with its status', async () => {
  await using terminal = await sandbox.terminal.create({
    cols: 100,
    rows: 30,
    cwd: '/data/local',
    env: { PS1: '> ', TEXT: "it's $HOME" },
  })
  await terminal.sendInput('stty size; pwd; echo "[$TEXT] $HOME"; tty; ps -o pid= -p $$ | tr -d " "\n')
  const said = await terminal.waitFor(/\r\n(\d+)\r\n/)
  for (const text of ['30 100\r\n/data/local\r\n', "[it's $HOME] /data/local/tmp\r\n/dev/pts/"])
    expect(said).toContain(text)
  expect(said).toEndWith(`\r\n${terminal.pid}\r\n`)
  await terminal.resize(60, 20)
  await terminal.sendInput('stty size\n')
  await terminal.waitFor('20 60\r\n')
  // More than a packet holds, in lines that a terminal takes.
  await terminal.sendInput('stty -echo; wc -c\n')
  await terminal.sendInput(`${'x'.repeat(999)}\n`.repeat(100))
  await terminal.sendInput('\u0004')
  await terminal.waitFor('100000\r\n')
  await terminal.sendInput('exit 5\n')
  let rest = ''
  for await (const text of await sandbox.terminal.attach(terminal.pid)) rest += text
  expect(rest).toContain('20 60')
  expect(await terminal.close()).toBe(5)
})

test('closing a terminal ends all that runs in it', async () => {
  const terminal = await sandbox.terminal.create('bash')
  await terminal.sendInput('sleep 731.5 &\nsleep 731.5 | sleep 731.5\n')
  await until('all three', async () => (await run('pgrep -fcx "sleep 731.5"')) === '3\n')
  expect(await terminal.close()).toBeNull()
  await until('none', async () => (await run('pgrep -fcx "sleep 731.5"')) === '0\n')
})

test('a program other than the shell, and a folder that is none', async () => {
  const { pid } = await phone.computer.ask('terminal_create', { shell: 'cat /nowhere; kill -KILL $$' })
  const record = async () => (await fetch(`${phone.computer.url}/pty/${pid}`)).json()
  await until('its end', async () => ((await record()) as { running: boolean }).running === false)
  expect(await record()).toMatchObject({ command: 'cat /nowhere; kill -KILL $$', exit_code: 137 })
  expect(await phone.computer.send('terminal_create', { cwd: '/nowhere' })).toMatchObject({ code: 'invalid_argument' })
  expect(await phone.computer.send('terminal_send', { pid: 999_999_999, data: '' })).toMatchObject({
    code: 'terminal_unknown',
  })
})
