/** A Linux for tests and demonstrations: small, and quick to start where there is no KVM. */
import cloudConfig from '../../../images/linux-minimal/cloud-config.awk' with { type: 'text' }
import dhcp from '../../../images/linux-minimal/dhcp.sh' with { type: 'text' }
import firstBoot from '../../../images/linux-minimal/first-boot.sh' with { type: 'text' }
import group from '../../../images/linux-minimal/group.conf' with { type: 'text' }
import grow from '../../../images/linux-minimal/grow.sh' with { type: 'text' }
import http from '../../../images/linux-minimal/http.sh' with { type: 'text' }
import identity from '../../../images/linux-minimal/identity.sh' with { type: 'text' }
import initrd from '../../../images/linux-minimal/initrd.sh' with { type: 'text' }
import inittab from '../../../images/linux-minimal/inittab.conf' with { type: 'text' }
import late from '../../../images/linux-minimal/late.sh' with { type: 'text' }
import passwd from '../../../images/linux-minimal/passwd.conf' with { type: 'text' }
import powerButton from '../../../images/linux-minimal/power-button.sh' with { type: 'text' }
import profile from '../../../images/linux-minimal/profile.sh' with { type: 'text' }
import rc from '../../../images/linux-minimal/rc.sh' with { type: 'text' }
import rcShutdown from '../../../images/linux-minimal/rc-shutdown.sh' with { type: 'text' }
import shadow from '../../../images/linux-minimal/shadow.conf' with { type: 'text' }
import shares from '../../../images/linux-minimal/shares.sh' with { type: 'text' }
import shutdown from '../../../images/linux-minimal/shutdown.sh' with { type: 'text' }
import uevent from '../../../images/linux-minimal/uevent.sh' with { type: 'text' }
import type { GuestFile, Recipe } from '../recipe.ts'

/** A text that is run. */
export const program = (text: string): GuestFile => ({ text, mode: 0o755 })

export const linuxMinimal: Recipe = {
  name: 'linux-minimal',
  tag: 'latest',
  summary: 'Small Linux with guest agent, ssh and shared folders; starts in seconds without KVM.',
  // Debian's cloud kernel is smaller but knows no 9p, without which an ordinary user shares no folder.
  kernel: 'linux-image-amd64',
  busybox: 'busybox-static',
  programs: {
    '/usr/sbin/qemu-ga': 'qemu-guest-agent',
    '/usr/sbin/dropbear': 'dropbear-bin',
    '/sbin/resize2fs': 'e2fsprogs',
  },
  // What the executable loads, for guests that are given it.
  libraries: {
    '/lib/x86_64-linux-gnu/libpthread.so.0': 'libc6',
    '/lib/x86_64-linux-gnu/libdl.so.2': 'libc6',
    '/lib/x86_64-linux-gnu/libm.so.6': 'libc6',
    '/lib/x86_64-linux-gnu/libgcc_s.so.1': 'libgcc-s1',
  },
  modules: {
    initrd: ['virtio_pci', 'virtio_blk', 'crc32c_generic', 'ext4'],
    root: [
      ...['virtio_net', 'virtio_console', 'virtio_balloon', 'virtio_rng'],
      ...['9pnet_virtio', '9p', 'virtiofs', 'isofs', 'vfat', 'nls_cp437', 'nls_ascii'],
      ...['button', 'evdev', 'virtio_input', 'bochs'],
    ],
  },
  init: initrd,
  files: {
    '/etc/inittab': { text: inittab },
    '/etc/rc': program(rc),
    '/etc/rc.shutdown': program(rcShutdown),
    '/etc/passwd': { text: passwd },
    '/etc/shadow': { text: shadow, mode: 0o600 },
    '/etc/group': { text: group },
    '/etc/shells': { text: '/bin/sh\n' },
    '/etc/profile': { text: profile },
    '/etc/hostname': { text: 'linux-minimal\n' },
    '/etc/hosts': { text: '127.0.0.1 localhost\n' },
    '/etc/acpi/PWRF/00000080': program(powerButton),
    '/sbin/shutdown': program(shutdown),
    '/var/lib/backlot/name': { text: 'linux-minimal\n' },
    '/usr/lib/backlot/identity': { text: identity },
    '/usr/lib/backlot/cloud-config.awk': { text: cloudConfig },
    '/usr/lib/backlot/shares': { text: shares },
    '/usr/lib/backlot/dhcp': program(dhcp),
    '/usr/lib/backlot/http': program(http),
    '/usr/lib/backlot/late': program(late),
    '/usr/lib/backlot/grow': program(grow),
    '/usr/lib/backlot/first-boot': program(firstBoot),
    '/usr/lib/backlot/uevent': program(uevent),
  },
  folders: {
    '/dev': 0o755,
    '/proc': 0o555,
    '/sys': 0o555,
    '/run': 0o755,
    '/tmp': 0o1777,
    '/mnt/shared': 0o755,
    '/root': 0o700,
    '/etc/dropbear': 0o700,
    '/var/log': 0o755,
    '/var/lib/backlot': 0o700,
  },
  diskBytes: 256 * 1024 ** 2,
  append: 'console=tty0 console=ttyS0 quiet mitigations=off cryptomgr.notests no_timer_check lsm=capability audit=0',
  defaults: { cpu: 1, memory: '256MB', diskSize: '2GB', display: '1024x768' },
  ports: [22, 8000],
}
