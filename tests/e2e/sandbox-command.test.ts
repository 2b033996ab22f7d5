import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { configure, Image, Sandbox } from '@backlot/sdk'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { startCloud } from '../support/fake-cloud.ts'
import { sandboxHome } from '../support/sandbox-home.ts'

const key = 'sk-a-key-that-nobody-sees'

test('one signs in, and keeps the sandboxes of the cloud by their names', async () => {
  const { folder } = sandboxHome()
  const cloud = startCloud(key, join(folder, 'vms'))
  onTestFinished(() => cloud[Symbol.asyncDispose]())
  const env = { BACKLOT_HOME: folder }
  const without = await runBacklot(['whoami'], env)
  expect(without).toMatchObject({ status: 1, stdout: '' })
  expect(without.stderr).toStartWith('error: No cloud is configured')

  const login = Bun.spawn(backlotCommand('login', '--no-open', '--base-url', cloud.url), {
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let said = ''
  for await (const part of login.stderr) {
    said += new TextDecoder().decode(part)
    const [url] = /http:\S+cli-auth\S+/.exec(said) ?? []
    if (url !== undefined && !said.includes('signed in')) await fetch(url)
  }
  expect([await login.exited, said.includes('You are signed in.'), said.includes(key)]).toEqual([0, true, false])
  expect(JSON.parse((await runBacklot(['whoami'], env)).stdout)).toMatchObject({ email: 'someone@example.org' })

  configure({ apiKey: key, baseUrl: cloud.url })
  await (await Sandbox.create(Image.desktop(), { name: 'one' })).disconnect()
  const infos = JSON.parse((await runBacklot(['sandbox', 'list'], env)).stdout)
  expect(infos).toMatchObject([{ name: 'one', status: 'running', source: 'cloud' }])
  const status = async () => JSON.parse((await runBacklot(['sandbox', 'info', 'one'], env)).stdout).status
  for (const [verb, after] of [
    ['suspend', 'suspended'],
    ['resume', 'running'],
    ['restart', 'running'],
  ] as const) {
    expect(await runBacklot(['sandbox', verb, 'one'], env)).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(await status()).toBe(after)
  }
  expect(await runBacklot(['sandbox', 'delete', 'one', '--runtime', 'cloud'], env)).toMatchObject({ status: 0 })
  const gone = await runBacklot(['sandbox', 'logs', 'one', '--local'], env)
  expect([gone.status, gone.stderr.includes('has no sandbox "one"')]).toEqual([1, true])
})

test('desktops of this machine are kept ready, and told of', async () => {
  const { folder } = sandboxHome()
  const env = { BACKLOT_HOME: folder }
  const { networks } = JSON.parse((await runBacklot(['local', 'levels', '--json'], env)).stdout) as {
    networks: string[]
  }
  const made = await runBacklot(['sandbox', 'pool', '--size', '1'], env)
  // Where there is no way to the internet, which is what sandboxes have unless asked otherwise, that is told.
  if (!networks.includes('internet')) return expect(made.stderr).toContain('internet')
  try {
    expect(JSON.parse(made.stdout)).toMatchObject([{ name: 'default', size: 1 }])
    expect(JSON.parse((await runBacklot(['sandbox', 'pool'], env)).stdout)).toMatchObject([{ name: 'default' }])
  } finally {
    expect(JSON.parse((await runBacklot(['sandbox', 'pool', '--size', '0'], env)).stdout)).toEqual([])
  }
  expect((await runBacklot(['sandbox', 'pool', '--size', 'many'], env)).status).toBe(1)
})

test('what no command takes is refused with how it is called', async () => {
  const { folder } = sandboxHome()
  for (const args of [
    ['sandbox'],
    ['sandbox', 'info'],
    ['sandbox', 'list', 'x'],
    ['sandbox', 'build', 'x'],
    ['login', 'x'],
  ]) {
    expect((await runBacklot(args, { BACKLOT_HOME: folder })).status).toBe(64)
  }
  for (const seconds of ['abc', '0', '', '-1']) {
    const login = await runBacklot(['login', `--timeout-seconds=${seconds}`], { BACKLOT_HOME: folder })
    expect(login.status).toBe(64)
    expect(login.stderr).toStartWith(`error: "--timeout-seconds" is "${seconds}"`)
  }
  const wrong = await runBacklot(['sandbox', 'info', '../x'], { BACKLOT_HOME: folder })
  expect(wrong.stderr).toStartWith('error: "name" is "../x"')
})
