import { expect, test } from 'bun:test'
import type { VmSettings } from '../../vms/vm-settings.ts'
import { type Launch, qemuArguments } from './arguments.ts'

const settings: VmSettings = {
  os: 'linux',
  guestOs: 'linux',
  cpu: 2,
  memoryBytes: 2 ** 30,
  display: { width: 1024, height: 768 },
  macAddress: '52:54:00:01:02:03',
  uuid: '00000000-0000-4000-8000-000000000001',
  generationId: '00000000-0000-4000-8000-000000000002',
  instanceId: 'backlot-1',
  network: 'nat',
  ports: [8000],
  append: 'console=ttyS0 quiet',
  createdAt: '2026-01-01T00:00:00.000Z',
}

const launch: Launch = {
  name: 'one',
  settings,
  files: {
    disk: '/vms/one/disk.qcow2',
    kernel: '/vms/one/kernel',
    initrd: '/vms/one/initrd',
    seed: '/vms/one/seed',
    serial: '/vms/one/serial.log',
    pid: '/vms/one/hypervisor.pid',
    qmpSocket: '/run/vm/1.qmp',
    agentSocket: '/run/vm/1.agent',
  },
  accelerator: 'tcg',
  hasDisplay: true,
  forwards: [{ guestPort: 8000, address: '127.77.1.2', port: 8000 }],
  sharedDirectories: [{ hostPath: '/srv/a,b', tag: 'a-b', readOnly: true }],
}

/** Each option with its value on one line, as a person reads them. */
const lines = (of: Launch): string[] =>
  qemuArguments(of)
    .join(' ')
    .replace(/ (-[a-zA-Z])/g, '\n$1')
    .split('\n')

test('everything that a VM has stands on the command line, once', () => {
  expect(lines(launch)).toEqual([
    '-name guest=one',
    `-uuid ${settings.uuid}`,
    '-nodefaults',
    '-no-user-config',
    '-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny',
    '-machine q35,accel=tcg,vmport=off,usb=off,dump-guest-core=off',
    '-cpu max',
    '-smp 2',
    '-m 1024M',
    '-rtc base=utc',
    `-device vmgenid,guid=${settings.generationId}`,
    '-kernel /vms/one/kernel',
    '-initrd /vms/one/initrd',
    '-append console=ttyS0 quiet',
    '-S',
    '-pidfile /vms/one/hypervisor.pid',
    '-msg timestamp=on',
    '-chardev socket,id=qmp,path=/run/vm/1.qmp,server=on,wait=off',
    '-mon chardev=qmp,mode=control',
    '-device virtio-serial-pci',
    '-chardev socket,id=agent,path=/run/vm/1.agent,server=on,wait=off',
    '-device virtserialport,chardev=agent,name=org.qemu.guest_agent.0',
    '-chardev file,id=serial,path=/vms/one/serial.log,append=on',
    '-serial chardev:serial',
    '-device virtio-balloon-pci,id=balloon,deflate-on-oom=on',
    '-device virtio-rng-pci',
    '-blockdev {"driver":"qcow2","node-name":"disk","discard":"unmap","file":{"driver":"file","filename":"/vms/one/disk.qcow2"}}',
    '-device virtio-blk-pci,drive=disk,id=disk0,bootindex=1',
    '-blockdev {"driver":"vvfat","node-name":"seed","dir":"/vms/one/seed","label":"CIDATA","read-only":true}',
    '-device virtio-blk-pci,drive=seed,id=seed0',
    '-netdev user,id=net0,hostfwd=tcp:127.77.1.2:8000-:8000',
    '-device virtio-net-pci,netdev=net0,mac=52:54:00:01:02:03,romfile=',
    '-fsdev local,id=share0,path=/srv/a,,b,security_model=none,readonly=on',
    '-device virtio-9p-pci,fsdev=share0,mount_tag=a-b',
    '-device VGA,xres=1024,yres=768',
    '-device virtio-tablet-pci',
    '-device virtio-keyboard-pci',
    '-display none',
    '-vnc 127.0.0.1:0,to=5000,password=on',
  ])
})

test('the executable of a guest is a disk that it cannot write to', () => {
  const own = lines({ ...launch, files: { ...launch.files, executable: '/vms/one/executable.img' } })
  expect(own.filter((line) => line.includes('executable'))).toEqual([
    '-blockdev {"driver":"raw","node-name":"executable","read-only":true,"file":{"driver":"file","filename":"/vms/one/executable.img"}}',
    '-device virtio-blk-pci,drive=executable,id=executable0',
  ])
})

test('what it has not is not there', () => {
  const { kernel: _kernel, initrd: _initrd, seed: _seed, ...files } = launch.files
  const bare = lines({
    ...launch,
    files: { ...files, iso: '/isos/a.iso' },
    settings: { ...settings, network: 'none' },
    accelerator: 'kvm',
    hasDisplay: false,
    sharedDirectories: [],
  })
  expect(bare.filter((line) => /^-(kernel|initrd|append|netdev|fsdev|vnc)/.test(line))).toEqual([])
  expect(bare).toContain('-cpu host')
  expect(bare).toContain('-device ide-cd,drive=iso,id=cd0,bootindex=2')
})

test('a large screen has the memory for two of its pictures', () => {
  const screen = (width: number, height: number) =>
    lines({ ...launch, settings: { ...settings, display: { width, height } } }).find((line) => line.includes('VGA'))
  expect(screen(1920, 1080)).toBe('-device VGA,xres=1920,yres=1080')
  expect(screen(2560, 1600)).toBe('-device VGA,xres=2560,yres=1600,vgamem_mb=32')
  expect(screen(2560, 2048)).toBe('-device VGA,xres=2560,yres=2048,vgamem_mb=64')
})

test('memory that others have too is mapped from its file, under the name that a saved one knows', () => {
  const mapped = lines({ ...launch, memory: '/proc/self/fd/4' })
  expect(mapped).toContain(
    '-object memory-backend-file,id=pc.ram,size=1024M,mem-path=/proc/self/fd/4,share=off,x-use-canonical-path-for-ramblock-id=off',
  )
  expect(mapped).toContain('-machine q35,accel=tcg,vmport=off,usb=off,dump-guest-core=off,memory-backend=pc.ram')
})

test("words behind the VM's own come to its kernel, where it has one", () => {
  expect(lines({ ...launch, moreWords: 'a=1' })).toContain('-append console=ttyS0 quiet a=1')
  const { kernel: _, ...files } = launch.files
  expect(lines({ ...launch, files, moreWords: 'a=1' }).filter((line) => line.includes('a=1'))).toEqual([])
})

test('a name cannot add options', () => {
  expect(lines({ ...launch, name: 'a,debug-threads=on' })[0]).toBe('-name guest=a,,debug-threads=on')
})
