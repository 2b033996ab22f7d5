import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acceleratorHere } from '../support/acceleration.ts'
import { startXterm } from '../support/applications.ts'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop } from '../support/desktop.ts'

const complete = privateDesktop()
const folder = mkdtempSync(join(tmpdir(), 'backlot-doctor-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Finding {
  readonly id: string
  readonly state: string
  readonly detail: string
  readonly mend: string | null
  readonly essential: boolean
}

/** Runs the doctor in an environment of exactly these variables. */
const doctor = async (env: Record<string, string | undefined>) => {
  const child = Bun.spawn(backlotCommand('doctor', '--json'), {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [text, status] = await Promise.all([child.stdout.text(), child.exited])
  const findings = (JSON.parse(text) as { findings: Finding[] }).findings
  return { status, of: (id: string) => findings.find((finding) => finding.id === id), findings }
}

/** A bare X server: no window manager, no bus. */
const startServer = async (...flags: string[]) => {
  const server = Bun.spawn(['Xvfb', '-displayfd', '1', '-nolisten', 'tcp', '-listen', 'local', ...flags], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  let number = ''
  for await (const bytes of server.stdout) {
    number += Buffer.from(bytes).toString()
    if (number.endsWith('\n')) break
  }
  return {
    display: `:${number.trim()}`,
    async [Symbol.asyncDispose]() {
      server.kill()
      await server.exited
    },
  }
}

/** A session bus that offers nothing. */
const startBus = async () => {
  const file = join(folder, 'bus.conf')
  writeFileSync(
    file,
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
  )
  const bus = Bun.spawn(['dbus-daemon', `--config-file=${file}`, '--nofork', '--nopidfile', '--print-address=1'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  let address = ''
  for await (const bytes of bus.stdout) {
    address += Buffer.from(bytes).toString()
    if (address.endsWith('\n')) break
  }
  return {
    address: address.trim(),
    async [Symbol.asyncDispose]() {
      bus.kill()
      await bus.exited
    },
  }
}

test('on a complete desktop everything works, and no daemon is started for it', async () => {
  const { status, findings } = await doctor(complete().env)
  // Whether there is KVM is not for the desktop to say.
  const ofDesktop = findings.filter(({ id }) => id !== 'virtual_machines')
  expect([status, ofDesktop.filter(({ state }) => state !== 'works')]).toEqual([0, []])
  expect(findings.find(({ id }) => id === 'daemon')?.detail).toStartWith('None runs')
  const text = await complete().backlot(['doctor'])
  expect([text.status, text.stdout.split('\n').filter((line) => /^[✓!]/.test(line)).length]).toEqual([
    0,
    findings.length,
  ])
})

test('a program without elements is named', async () => {
  const { pid } = await startXterm(complete())
  const { of } = await doctor(complete().env)
  expect(of('applications')).toMatchObject({ state: 'limited', detail: expect.stringContaining(`pid ${pid}`) })
})

test('without a display nothing works, and the way to one is named', async () => {
  for (const env of [{}, { DISPLAY: ':7777' }]) {
    const { status, of } = await doctor(env)
    expect([status, of('display')]).toEqual([
      1,
      expect.objectContaining({ state: 'missing', essential: true, mend: 'backlot desktop -- bash' }),
    ])
    expect(of('native_core')?.state).toBe('works')
    expect(of('applications')?.state).toBe('missing')
  }
})

test('on a bare X server the window manager and the buses are missing', async () => {
  await using server = await startServer()
  const { status, of } = await doctor({ DISPLAY: server.display })
  expect(status).toBe(0)
  expect(of('display')?.state).toBe('works')
  expect(of('window_manager')).toMatchObject({ state: 'limited', mend: 'openbox &' })
  expect(of('session_bus')).toMatchObject({ state: 'missing', mend: 'dbus-run-session -- bash' })
  expect(of('accessibility_bus')?.state).toBe('missing')
})

for (const [extension, id, state, word] of [
  ['Composite', 'capture', 'limited', 'Composite'],
  ['MIT-SHM', 'capture', 'limited', 'MIT-SHM'],
  ['XTEST', 'background_input', 'missing', 'xtest'],
] as const) {
  test(`an X server without ${extension} is told`, async () => {
    await using server = await startServer('-extension', extension)
    const { status, of } = await doctor({ DISPLAY: server.display })
    expect([status, of(id)]).toEqual([
      0,
      expect.objectContaining({ state, detail: expect.stringContaining(word), mend: 'backlot desktop -- bash' }),
    ])
  })
}

test('a session bus that nobody answers on, and one without accessibility, are told', async () => {
  const dead = await doctor({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder}/nobody` })
  expect(dead.of('session_bus')).toMatchObject({ state: 'missing', mend: 'dbus-run-session -- bash' })
  await using bus = await startBus()
  const { of } = await doctor({ DBUS_SESSION_BUS_ADDRESS: bus.address })
  expect(of('session_bus')?.state).toBe('works')
  expect(of('accessibility_bus')).toMatchObject({ state: 'missing', mend: 'apt-get install at-spi2-core' })
})

test('programs that are not installed are named with their packages', async () => {
  const { of } = await doctor({ PATH: folder, DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder}/nobody` })
  expect(of('private_desktop')?.state).toBe('missing')
  expect(of('private_desktop')?.mend).toMatch(/^apt-get install .*openbox/)
  expect(of('session_bus')).toMatchObject({ state: 'limited', mend: 'apt-get install libglib2.0-bin' })
})

test('a socket folder that cannot be ours, and a daemon of another bus, are told', async () => {
  const runtime = mkdtempSync(join(folder, 'runtime-'))
  writeFileSync(join(runtime, 'backlot'), 'in the way')
  const { status, of } = await doctor({ XDG_RUNTIME_DIR: runtime })
  expect([status, of('daemon')]).toEqual([
    1,
    expect.objectContaining({ state: 'missing', detail: expect.stringContaining('not a folder') }),
  ])
  await complete().backlot(['get_config', '{}'])
  const other = await doctor({ ...complete().env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/another' })
  expect(other.of('daemon')).toMatchObject({ state: 'limited', mend: 'backlot-driver stop' })
})

test('virtual machines: a tiny guest says what they run on', async () => {
  const noService = { BACKLOT_HOST_URL: 'http://127.0.0.1:9' }
  const { of } = await doctor(noService)
  const found = of('virtual_machines')
  expect(found?.essential).toBe(false)
  const hasKvm = (await acceleratorHere()) === 'kvm'
  expect(found?.state).toBe(hasKvm ? 'works' : 'limited')
  expect(found?.detail).toMatch(
    hasKvm
      ? /^QEMU emulator version .* runs guests with KVM\.$/
      : /^QEMU emulator version .* runs guests without KVM: .* about [\d.]+ times as long .* KVM: /,
  )
  expect(of('sandboxes')?.detail).toContain('VMs start by `qemu`.')
  const without = await doctor({ ...noService, PATH: '/nowhere' })
  expect(without.of('virtual_machines')).toMatchObject({
    state: 'missing',
    mend: 'apt-get install qemu-system-x86 qemu-utils',
  })
  expect(without.of('sandboxes')?.detail).toContain('None is a VM: "qemu-system-x86_64" is not installed.')
})
