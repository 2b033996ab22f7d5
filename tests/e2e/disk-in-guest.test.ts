import { expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { checkDisk, createDisk, createOverlay, diskInfo, resizeDisk } from '@backlot/native'
import { crateExample } from '../support/crate-test.ts'
import { startGuest } from '../support/guest.ts'
import { linuxMinimal } from '../support/image.ts'
import { qemu, qemuCheck, Scratch } from '../support/qemu.ts'

setDefaultTimeout(300_000)

/** SHA-256 of what the crate reads of a disk. */
const checksum = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const bytes of crateExample('contents', path)) hash.update(bytes)
  return hash.digest('hex')
}

test('a guest and the crate see the same disk, through overlays and after it has grown', async () => {
  using scratch = new Scratch()
  const image = await linuxMinimal()
  const disk = scratch.at('root.qcow2')
  await createOverlay(disk, { backing: `${image.folder}/${image.image.disk}`, backing_format: image.image.diskFormat })
  await resizeDisk(disk, 2 ** 30)

  const [base, middle, top] = ['base.qcow2', 'middle.qcow2', 'top.qcow2'].map((name) => scratch.at(name)) as [
    string,
    string,
    string,
  ]
  await createDisk(base, 6 << 20)
  qemu(['qemu-io', '-c', 'write -P 65 1M 3M', '-c', 'write -P 66 5M 100k', base])
  await createOverlay(middle, { backing: 'base.qcow2', backing_format: 'qcow2' })
  qemu(['qemu-io', '-c', 'write -P 67 2M 64k', '-c', 'write -z 3M 512k', middle])
  await createOverlay(top, { backing: 'middle.qcow2', backing_format: 'qcow2' })
  await resizeDisk(top, 10 << 20)
  const before = await checksum(top)

  await using guest = await startGuest({ image, disk, uuid: crypto.randomUUID(), data: top })
  await guest.answered()
  const sum = async () => (await guest.shell('sha256sum /dev/vdb')).split(' ')[0]
  expect(await sum()).toBe(before)
  // At random places, behind the end of the overlays below too; the guest's own reading of it comes from the drive.
  const written = await guest.shell(
    'for at in 3 700 900 1281 1490 2250; do dd if=/dev/urandom of=/dev/vdb bs=4096 seek=$at count=37 2>/dev/null; done; ' +
      'sync; echo 3 >/proc/sys/vm/drop_caches; wc -c </dev/vdb',
  )
  expect(written.trim()).toBe(String(10 << 20))
  const inside = await sum()
  expect(inside).not.toBe(before)
  await guest.powerOff()

  expect(await checksum(top)).toBe(String(inside))
  for (const path of [disk, top]) {
    expect(qemuCheck(path)).toEqual({ corruptions: 0, leaks: 0 })
    expect(await checkDisk(path)).toMatchObject({ corruptions: 0, leaks: 0 })
  }
  expect((await diskInfo(top)).chain.map((layer) => layer.path)).toEqual([middle, base])
})
