/** Sandboxes that are VMs on QEMU, under emulation, with the guest, its hypervisor's process and `qemu-img` as witnesses. */
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image, type Progress, runtimes, Sandbox } from '@backlot/sdk'
import { giveAcceleration } from '../support/acceleration.ts'
import { runBacklot } from '../support/backlot.ts'
import { proving } from '../support/proves.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { bootMs, killAll, size as usual, withWord } from '../support/sdk/private-host.ts'
import { until } from '../support/until.ts'
import { checkDisk, giveImage, image, isAlive } from '../support/vms.ts'

/** Half the memory to save and to read. */
const size = { ...usual, memoryMb: 256 } as const

test('what is missing is told with the way to get it', async () => {
  sandboxHome()
  const path = process.env.PATH
  try {
    process.env.PATH = '/nowhere'
    expect(await runtimes.qemu().check()).toEqual({
      available: false,
      reason: '"qemu-system-x86_64" is not installed.',
      remedy: 'On Debian and Ubuntu: apt install qemu-system-x86.',
    })
  } finally {
    process.env.PATH = path
  }
  expect(await runtimes.qemu({ accel: 'hvf' }).check()).toMatchObject({
    available: false,
    reason: '"hvf" is not of Linux.',
  })
  // A host that was never started holds nothing, and is not started to say so.
  expect(await runtimes.qemu().list()).toEqual([])
  expect(existsSync(join(process.env.BACKLOT_HOME ?? '', 'state/qemu'))).toBe(false)
})

test(
  'a VM is started, built, suspended, continued by another host and deleted',
  proving(['sandbox.state.suspended.qemu', 'sandbox.image.from-registry'], async () => {
    const { folder, atEnd } = sandboxHome()
    const home = join(folder, 'state/qemu')
    // The host's sockets and the VMs' folders stand below it.
    atEnd(async () => killAll(folder))
    giveAcceleration(folder)
    await giveImage({ home: folder })
    const phases = new Set<string>()
    const hostile = "a\nEND_OF_VARIABLES\nEND\n$(touch /var/touched)'`touch /var/touched`"
    const source = Image.fromRegistry(image)
      .env({ GREETING: 'Grüße, "Welt"', LINES: hostile })
      // The kernel makes up its boot id when it is first read.
      .run('echo "$GREETING" >/var/layer; cat /proc/sys/kernel/random/boot_id >>/var/boots')
      .env({ LATER: 'too' })
    const sandbox = await Sandbox.create(source, {
      ...{ runtime: 'qemu', name: 'one', ...size, timeoutMs: bootMs },
      onProgress: ({ phase }) => void phases.add(phase),
    })
    expect([...phases]).toEqual(['boot', 'layer'])
    const boot = async (from: Sandbox) => (await from.shell.run('cat /proc/sys/kernel/random/boot_id')).stdout
    const first = await boot(sandbox)
    expect((await sandbox.shell.run('hostname; cat /var/layer; echo "$GREETING" $LATER')).stdout).toBe(
      'one\nGrüße, "Welt"\nGrüße, "Welt" too\n',
    )
    expect((await sandbox.shell.run('printf %s "$LINES"; ls /var/touched 2>/dev/null || true')).stdout).toBe(hostile)
    const vm = join(home, 'data/vms/one')
    const keyOf = (name: string): string =>
      JSON.parse(readFileSync(join(folder, `state/sandboxes/keys/${name}.json`), 'utf8')).api_key
    const key = keyOf('one')
    /** The key in the user data of a VM. */
    const keyIn = (name: string) =>
      /echo (\S+) >\/etc\/backlot\/computer\.key/.exec(
        readFileSync(join(home, 'data/vms', name, 'seed/user-data'), 'utf8'),
      )?.[1]
    /** Files of a guest in which a word stands. */
    const filesWith = async (from: Sandbox, word: string) =>
      (await from.shell.run('grep -rlsF -f - /run /etc /var /root; true', { input: word })).stdout
    expect([String(key).length, withWord(key)]).toEqual([43, []])
    {
      // What starts as the first did is a fork of its template: nothing boots, and no layer is carried out again.
      const seen: string[] = []
      const onProgress = ({ phase }: Progress) => void seen.push(phase)
      const more = { ...size, timeoutMs: bootMs, onProgress }
      await using two = await Sandbox.ephemeral(source, { runtime: 'qemu', name: 'two', ...more })
      expect([await boot(two), seen.filter((phase) => phase !== 'boot')]).toEqual([first, []])
      expect((await two.shell.run('hostname; cat /var/layer; echo $LATER')).stdout).toBe('two\nGrüße, "Welt"\ntoo\n')
      expect((await two.shell.run('cat /var/boots')).stdout).toBe(first)
      const own = 'cat /etc/machine-id /etc/backlot/computer.key; head -c 16 /dev/urandom | base64'
      const [ours, theirs] = await Promise.all([sandbox.shell.run(own), two.shell.run(own)])
      const shared = ours.stdout.split('\n').filter((line) => line !== '' && theirs.stdout.includes(line))
      expect([ours.stdout.trim().split('\n').length, shared]).toEqual([3, []])
      const [template = '', ...others] = readdirSync(join(home, 'data/vms')).filter((name) =>
        name.startsWith('template.'),
      )
      expect(others).toEqual([])
      expect(existsSync(join(home, 'data/vms', template, 'memory.state'))).toBe(true)
      // What each is told at its next start has its own key in it, and none has that of its template in its files.
      expect([keyIn('one'), keyIn('two')]).toEqual([String(key), keyOf('two')])
      const templates = keyIn(template)
      expect([String(templates).length, templates === key, templates === keyIn('two')]).toEqual([43, false, false])
      for (const each of [sandbox, two]) expect(await filesWith(each, String(templates))).toBe('')
      expect((await Sandbox.list({ local: true })).map(({ name }) => name).sort()).toEqual(['one', 'two'])
    }
    await sandbox.shell.run('sleep 4242 >/dev/null 2>&1 &')
    {
      await using forks = await sandbox.fork(1)
      const [fork] = forks
      if (fork === undefined) throw new Error('no fork')
      // It goes on from where its parent is, as a machine of its own with a key of its own.
      expect([await boot(fork), (await fork.shell.run('hostname')).stdout]).toEqual([first, `${fork.name}\n`])
      expect((await fork.shell.run('tr "\\0" " " </proc/$(pidof sleep)/cmdline')).stdout).toBe('sleep 4242 ')
      await fork.shell.run('echo fork >/var/layer')
      expect((await sandbox.shell.run('cat /var/layer')).stdout).toBe('Grüße, "Welt"\n')
      const own = keyOf(fork.name)
      expect([own.length, own === key, withWord(own), keyIn(fork.name)]).toEqual([43, false, [], own])
      expect(await filesWith(fork, String(key))).toBe('')
    }
    {
      // Another starts from a snapshot of it, and goes on from where it was then; what it does meanwhile is its own.
      const saved = await sandbox.snapshot({ name: 'early' })
      await sandbox.shell.run('echo later >/var/layer; kill $(pidof sleep)')
      await using three = await Sandbox.ephemeral(saved, { name: 'three', timeoutMs: bootMs })
      expect([three.source, await boot(three)]).toEqual(['qemu', first])
      expect((await three.shell.run('hostname; cat /var/layer')).stdout).toBe('three\nGrüße, "Welt"\n')
      expect((await three.shell.run('tr "\\0" " " </proc/$(pidof sleep)/cmdline')).stdout).toBe('sleep 4242 ')
      const machine = 'cat /etc/machine-id /sys/class/net/eth0/address'
      const [ours, theirs] = await Promise.all([sandbox.shell.run(machine), three.shell.run(machine)])
      expect(ours.stdout.split('\n').filter((line) => line !== '' && theirs.stdout.includes(line))).toEqual([])
      const own = keyOf('three')
      expect([own.length, own === key, withWord(own), keyIn('three')]).toEqual([43, false, [], own])
      expect(await filesWith(three, String(key))).toBe('')
      // Without the snapshot it goes on.
      await saved.delete()
      expect(await boot(three)).toBe(first)
    }
    // It went on in another process.
    const pid = Number(readFileSync(join(vm, 'hypervisor.pid'), 'utf8'))
    expect(isAlive(pid)).toBe(true)
    const infos = await Sandbox.list({ local: true })
    expect(infos).toContainEqual(
      expect.objectContaining({ name: 'one', status: 'running', source: 'qemu', isolation: 'vm', osType: 'linux' }),
    )

    await Sandbox.suspend('one')
    expect([isAlive(pid), existsSync(join(vm, 'memory.state')), checkDisk(vm)]).toEqual([false, true, 0])
    expect((await Sandbox.getInfo('one')).status).toBe('suspended')
    // The host that is started next finds the VM.
    const hosts = withWord('--idle-seconds').filter(({ words }) => words.includes(folder))
    expect(hosts).toHaveLength(1)
    for (const { pid } of hosts) process.kill(pid, 'SIGKILL')
    const again = await Sandbox.resume('one', { timeoutMs: bootMs })
    expect(await boot(again)).toBe(first)

    await Sandbox.delete('one')
    expect(existsSync(vm)).toBe(false)
    expect(await Sandbox.list({ local: true })).not.toContainEqual(expect.objectContaining({ name: 'one' }))
  }),
  bootMs * 2,
)

test('a host that nobody needs ends by itself', async () => {
  const { folder } = sandboxHome()
  const socket = join(folder, 'host.sock')
  const { status, stdout } = await runBacklot(['serve', '--listen', `unix:${socket}`, '--idle-seconds', '0.5'])
  expect([status, stdout.trim()]).toEqual([0, `unix:${socket}`])
  await until('the socket to be gone', () => !existsSync(socket))
})
