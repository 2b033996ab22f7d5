/**
 * Each method of sandboxes that are VMs, on both runtimes, and images that were not built here: too many machines for each run
 * of the tests. Their guests, the host's files and its processes are the witnesses.
 */
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image, runtimes, Sandbox } from '@backlot/sdk'
import { giveAcceleration } from '../support/acceleration.ts'
import { linuxMinimal } from '../support/image.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { bootMs, killAll, size, socketOf } from '../support/sdk/private-host.ts'
import { callMethods } from '../support/sdk/vm-methods.ts'
import { giveImage, image } from '../support/vms.ts'

test(
  'each method of a sandbox does on a private host and on a service what it is to do',
  async () => {
    const { folder, states, atEnd } = sandboxHome()
    const vms = join(folder, 'state/qemu/data/vms')
    atEnd(async () => killAll(folder))
    giveAcceleration(folder)
    await giveImage({ home: folder })
    // The kernel makes up its boot id when it is first read.
    const source = Image.fromRegistry(image).run('cat /proc/sys/kernel/random/boot_id >/var/layer')
    const boot = async (from: Sandbox) => (await from.shell.run('cat /proc/sys/kernel/random/boot_id')).stdout
    const witnessed = { vms, states, timeoutMs: bootMs }
    await using one = await Sandbox.ephemeral(source, { ...size, runtime: 'qemu', name: 'one', timeoutMs: bootMs })
    const first = await boot(one)
    await callMethods(one, runtimes.qemu(), witnessed)
    // The same host as a service that somebody started: its sandboxes begin as forks of the same template.
    const service = runtimes.vmhost({ url: `unix:${socketOf(folder)}` })
    const about = { ...size, runtime: service, timeoutMs: bootMs }
    await using served = await Sandbox.ephemeral(source, { ...about, name: 'served' })
    expect(await boot(served)).toBe(first)
    await served.shell.run('echo served >/var/layer')
    const kept = await served.snapshot()
    const again = await Sandbox.create(kept, { runtime: service, name: 'again', timeoutMs: bootMs })
    await kept.delete()
    expect((await again.shell.run('hostname; cat /var/layer')).stdout).toBe('again\nserved\n')
    {
      await using copies = await again.fork(1)
      expect(await boot(copies[0] as Sandbox)).toBe(first)
    }
    await Sandbox.suspend('again')
    expect(existsSync(join(vms, 'again/memory.state'))).toBe(true)
    expect((await Sandbox.getInfo('again')).status).toBe('suspended')
    expect(await boot(await Sandbox.resume('again', { timeoutMs: bootMs }))).toBe(first)
    expect((await Sandbox.list({ runtime: service })).map(({ name }) => name)).toContain('again')
    await Sandbox.delete('again')
    expect(existsSync(join(vms, 'again'))).toBe(false)
    await callMethods(served, service, witnessed)
  },
  bootMs * 4,
)

/** Gives a home the image that tests boot as one that was imported from a disk of somebody else. */
const giveImported = async (home: string): Promise<string> => {
  const { folder, image } = await linuxMinimal()
  const { recipe: _, ...about } = image
  const imported = join(home, 'cache/images/imported_latest')
  mkdirSync(imported, { recursive: true })
  for (const file of [about.disk, about.kernel, about.initrd].filter((each) => each !== undefined)) {
    symlinkSync(join(folder, file), join(imported, file))
  }
  const text = JSON.stringify({ ...about, name: 'imported', source: '/elsewhere/imported.qcow2' })
  writeFileSync(join(imported, 'image.json'), text)
  return 'imported:latest'
}

test(
  'an image that was not built here becomes a template where its guests have an agent, and boots each time where not',
  async () => {
    const { folder, atEnd } = sandboxHome()
    atEnd(async () => killAll(folder))
    giveAcceleration(folder)
    const image = Image.fromRegistry(await giveImported(folder))
    const templates = () =>
      readdirSync(join(folder, 'state/qemu/data/vms')).filter((name) => name.startsWith('template.'))
    const create = async (source: Image, name: string) => {
      const notes: string[] = []
      const sandbox = await Sandbox.create(source, {
        ...{ runtime: 'qemu', name, ...size, timeoutMs: bootMs },
        onProgress: (progress) => void (progress.phase === 'note' && notes.push(progress.message)),
      })
      const { stdout } = await sandbox.shell.run('cat /proc/sys/kernel/random/boot_id /var/layer /etc/machine-id')
      const [boot, layer, machine] = stdout.trim().split('\n')
      return { boot, layer, machine, notes }
    }
    // The kernel makes up its boot id when it is first read.
    const built = image.run('cat /proc/sys/kernel/random/boot_id >>/var/layer')
    const one = await create(built, 'one')
    expect([one.layer, one.notes, templates().length]).toEqual([one.boot, [], 1])
    const two = await create(built, 'two')
    // Nothing boots, and no layer is carried out again.
    expect([two.boot, two.layer, two.notes, templates().length]).toEqual([one.boot, one.layer, [], 1])
    expect(two.machine).not.toBe(one.machine)
    for (const name of ['one', 'two']) await Sandbox.delete(name)
    const silent = image.run('echo silent >/var/layer; mount --bind /bin/false "$(which qemu-ga)"; killall qemu-ga')
    const three = await create(silent, 'three')
    expect([three.layer, three.notes, templates().length]).toEqual([
      'silent',
      [expect.stringContaining('have no agent')],
      1,
    ])
    await Sandbox.delete('three')
  },
  bootMs * 2,
)
