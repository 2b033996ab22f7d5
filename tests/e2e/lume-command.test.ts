import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { startCommandHost } from '../support/command-host.ts'
import { frameOf, post, startComputer } from '../support/computer.ts'
import { runProgram } from '../support/guest.ts'
import { until } from '../support/until.ts'
import type { VmHost } from '../support/vmhost.ts'

let host: VmHost
/** The small program that clients find on their PATH. */
let shim: string
let env: Record<string, string>

beforeAll(async () => {
  ;({ host, env } = await startCommandHost())
  const folder = join(host.home, 'bin')
  const installed = await runBacklot(['lume', 'install-shim', folder])
  shim = join(folder, 'lume')
  expect(installed.stdout).toBe(`${shim}\n`)
})

afterAll(() => host[Symbol.asyncDispose]())

const lume = async (...args: string[]) => {
  const child = Bun.spawn([shim, ...args], {
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { stdout, stderr, status: await child.exited }
}

const data = async <Value>(...args: string[]): Promise<Value> => {
  const { stdout, stderr, status } = await lume(...args)
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout) as Value
}

test('its words do what clients and scripts mean by them', async () => {
  expect((await lume('--version')).stdout).toMatch(/^0\.\d+\.\d+\n$/)
  expect(await data<Vm[]>('ls', '--format', 'json')).toEqual([])
  await data('create', 'one', '--os', 'linux', '--cpu', '1', '--memory', '1GB', '--disk-size', '2GB')
  const [one] = await data<Vm[]>('get', 'one', '-f', 'json')
  expect(one).toMatchObject({ name: 'one', image: null, cpuCount: 1, memorySize: 2 ** 30, status: 'stopped' })
  await data('set', 'one', '--disk-size', '3GB')
  await data('clone', 'one', 'two')
  expect((await data<Vm[]>('ls', '-f', 'json')).map(({ name }) => name)).toEqual(['one', 'two'])
  const kept = await lume('delete', 'two')
  expect([kept.status, kept.stdout]).toEqual([64, ''])
  expect(kept.stderr).toContain('--force')
  for (const name of ['one', 'two']) expect((await lume('delete', name, '--force')).status).toBe(0)
  expect(await data<Vm[]>('ls', '--format', 'json')).toEqual([])
  const folder = join(host.home, 'more')
  await data('config', 'storage', 'add', 'more', folder)
  expect(await data<object[]>('config', 'storage', 'list')).toContainEqual({ name: 'more', path: folder })
  await data('config', 'storage', 'remove', 'more')
  expect((await lume('logs', 'info', '--lines', '1')).stdout).toContain('deleted')
  const unknown = await lume('nothing')
  expect([unknown.status, unknown.stderr]).toEqual([64, expect.stringContaining('does not know "nothing"')])
  expect((await lume('get', 'nobody')).stderr).toContain('Virtual machine not found: nobody')
})

test('`run` stays until the VM ends, and `ssh` goes through the agent, or through ssh as somebody', async () => {
  const key = join(host.home, 'key')
  await runProgram('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  const cloud = join(host.home, 'cloud')
  await writeFile(cloud, `#cloud-config\nssh_authorized_keys:\n  - ${(await Bun.file(`${key}.pub`).text()).trim()}\n`)
  const made = ['vm', 'create', 'guest', '--cpu', '1', '--memory', '256MB', '--user-data', `@${cloud}`]
  expect((await runBacklot(made, env)).status).toBe(0)
  const shared = join(host.home, 'given')
  await mkdir(shared)
  await writeFile(join(shared, 'note'), 'seen')
  const run = Bun.spawn([shim, 'run', 'guest', '--no-display', '--shared-dir', `${shared}:ro`], {
    env: { ...process.env, ...env },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const answered = async () => {
    const call = await lume('ssh', 'guest', 'cat /mnt/shared/given/note')
    return call.status === 0 && call
  }
  expect(await until('the agent', answered, 120_000)).toMatchObject({ stdout: 'seen', stderr: '' })
  expect(run.exitCode).toBeNull()
  expect(await lume('ssh', 'guest', 'echo out; echo err >&2; exit 7')).toEqual({
    stdout: 'out\n',
    stderr: 'err\n',
    status: 7,
  })

  // Somebody to log in as means ssh, with the keys that ssh finds in the person's home folder.
  await mkdir(join(host.home, '.ssh'), { mode: 0o700 })
  const program = join(host.home, 'bin', 'ssh')
  await writeFile(program, `#!/bin/sh\nexec ${Bun.which('ssh')} -i ${key} "$@"\n`, { mode: 0o755 })
  env = { ...env, PATH: `${join(host.home, 'bin')}:${process.env.PATH}` }
  expect(await lume('ssh', 'guest', '-u', 'root', 'hostname')).toEqual({ stdout: 'guest\n', stderr: '', status: 0 })

  // The same from `backlot vm exec`, whose limit ends what is too slow (guest_timeout).
  const exec = (...args: string[]) => runBacklot(['vm', 'exec', 'guest', ...args], env)
  expect(await exec('echo $((6 * 7))')).toEqual({ stdout: '42\n', stderr: '', status: 0 })
  const told = ['--env', "ONE=it's", '--env', 'TWO=a b', '--folder', '/etc', '--input']
  const read = Bun.spawn(backlotCommand('vm', 'exec', 'guest', 'echo "$ONE $TWO"; pwd; cat', ...told), {
    ...{ env: { ...process.env, ...env }, stdin: new Blob(['what it\nreads']), stdout: 'pipe' },
  })
  expect([await read.stdout.text(), await read.exited]).toEqual(["it's a b\n/etc\nwhat it\nreads", 0])
  expect((await exec('true', '--folder', '/nowhere')).status).toBe(126)
  expect((await exec('true', '--env', 'ONE')).status).toBe(64)
  const slow = await exec('sleep 1234', '--timeout-seconds', '1')
  expect([slow.status, slow.stderr]).toEqual([1, expect.stringContaining('did not end in 1 s')])
  expect((await exec('ps | grep -c "[s]leep 1234"')).stdout).toBe('0\n')
  // With all that it began.
  expect((await exec('(sleep 1234; true) | cat; true', '--timeout-seconds', '1')).status).toBe(1)
  const none = async () => (await exec('ps | grep -c "[s]leep 1234"')).stdout === '0\n'
  await until('the end of all of it', none)

  // The network of the guest leads to this machine's loopback, but not to the service that runs it (from_guest).
  const ask = ['--header "Host: 127.0.0.1:PORT"', 'http://10.0.2.2:PORT/svc/vms']
    .join(' ')
    .replaceAll('PORT', `${host.port}`)
  const asked = await exec(`wget -S -O - ${ask}`)
  expect([asked.status, asked.stdout]).toEqual([1, ''])
  expect(asked.stderr).toContain('HTTP/1.1 400')
  expect(host.log()).toMatch(/GET \/svc\/vms 400/)
  // Nor to a computer server here, whose address it can call too.
  await using computer = await startComputer(['--port', '0'])
  const { port } = new URL(computer.url)
  const written = join(computer.home, 'written')
  const command = JSON.stringify({ command: 'run_command', params: { command: `echo x > ${written}` } })
  const posted = `--header "Content-Type: application/json" --post-data '${command}'`
  for (const path of ['status', `cmd ${posted}`]) {
    const call = await exec(`wget -S -O - --header "Host: 127.0.0.1:${port}" http://10.0.2.2:${port}/${path}`)
    expect([path, call.status, call.stdout]).toEqual([path, 1, ''])
    expect(call.stderr).toContain('HTTP/1.1 403')
  }
  expect(await Bun.file(written).exists()).toBe(false)
  expect(await post(computer.url, JSON.parse(command)).then(frameOf)).toMatchObject({ success: true })
  expect(await Bun.file(written).exists()).toBe(true)

  run.kill('SIGINT')
  expect([await run.exited, await run.stderr.text()]).toEqual([0, ''])
  expect((await data<Vm[]>('get', 'guest', '-f', 'json'))[0]?.status).toBe('stopped')
  const off = await exec('true')
  expect([off.status, off.stderr]).toEqual([1, expect.stringContaining('does not run')])
})

test('`run` attends a VM in a folder, and `ssh` finds it there', async () => {
  const folder = join(host.home, 'aside')
  const made = ['--cpu', '1', '--memory', '256MB', '--image', 'linux-minimal:latest', '--storage', folder]
  await data('create', 'late', '--os', 'linux', ...made)
  const at = ['--storage', folder] as const
  const run = Bun.spawn([shim, 'run', 'late', '--no-display', ...at], {
    env: { ...process.env, ...env },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  await until(
    'its hypervisor',
    async () => (await data<Vm[]>('get', 'late', '-f', 'json', ...at))[0]?.status === 'running',
  )
  expect(await lume('ssh', 'late', '--timeout', '200', ...at, '--', 'echo up')).toMatchObject({
    stdout: 'up\n',
    status: 0,
  })
  expect(run.exitCode).toBeNull()
  run.kill('SIGINT')
  expect([await run.exited, await run.stderr.text()]).toEqual([0, ''])
  expect((await data<Vm[]>('get', 'late', '-f', 'json', ...at))[0]?.status).toBe('stopped')
})

test('a guest without an agent says so (agent_unavailable)', async () => {
  await data('create', 'bare', '--os', 'linux', '--cpu', '1', '--memory', '64MB')
  expect((await lume('run', 'bare', '--no-display', '--detach')).status).toBe(0)
  const call = await runBacklot(['vm', 'exec', 'bare', 'true', '--timeout-seconds', '1'], env)
  expect([call.status, call.stderr]).toEqual([1, expect.stringContaining('No guest agent answers')])
  expect((await lume('stop', 'bare')).status).toBe(0)
})
