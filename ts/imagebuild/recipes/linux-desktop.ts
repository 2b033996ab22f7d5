/** A Linux with a desktop and the computer server: the root of `images/linux-desktop`, brought up without systemd. */
import entry from '../../../docker/desktop/entry' with { type: 'text' }
import desktop from '../../../images/linux-desktop/vm/desktop.sh' with { type: 'text' }
import inittab from '../../../images/linux-desktop/vm/inittab.conf' with { type: 'text' }
import ownProgram from '../../../images/linux-desktop/vm/program.sh' with { type: 'text' }
import rc from '../../../images/linux-desktop/vm/rc.sh' with { type: 'text' }
import { guestFolder, type Recipe } from '../recipe.ts'
import { linuxMinimal, program } from './linux-minimal.ts'

const name = 'linux-desktop'
const { files, programs } = linuxMinimal
const shared = [
  '/etc/rc.shutdown',
  '/etc/acpi/PWRF/00000080',
  '/usr/lib/backlot/identity',
  '/usr/lib/backlot/cloud-config.awk',
  '/usr/lib/backlot/shares',
  '/usr/lib/backlot/dhcp',
  '/usr/lib/backlot/late',
  '/usr/lib/backlot/grow',
  '/usr/lib/backlot/first-boot',
  '/usr/lib/backlot/uevent',
]
const busybox = `/${guestFolder}/bin/busybox`

export const linuxDesktop: Recipe = {
  ...linuxMinimal,
  name,
  summary: 'Desktop with browser, editor, terminal and files, and the computer server on port 8000.',
  isOverDesktop: true,
  libraries: {},
  runsExecutable: true,
  init: linuxMinimal.init.replaceAll(linuxMinimal.name, name),
  files: {
    ...Object.fromEntries(shared.flatMap((path) => (files[path] === undefined ? [] : [[path, files[path]]]))),
    '/etc/inittab': { text: inittab },
    '/etc/hostname': { text: `${name}\n` },
    '/etc/hosts': { text: '127.0.0.1 localhost\n' },
    '/etc/shells': { text: '/bin/sh\n/bin/bash\n' },
    '/usr/sbin/shutdown': program(String(files['/sbin/shutdown']?.text)),
    '/usr/lib/backlot/rc': program(rc),
    '/usr/lib/backlot/desktop': program(desktop),
    '/usr/lib/backlot/entry': program(entry),
    '/var/lib/backlot/name': { text: `${name}\n` },
    ...Object.fromEntries(
      Object.keys(programs).map((path) => [
        `/${guestFolder}/bin/${path.split('/').at(-1)}`,
        program(ownProgram.replaceAll('PROGRAM', path)),
      ]),
    ),
  },
  links: {
    ...Object.fromEntries(['init', 'poweroff', 'reboot', 'halt'].map((each) => [`/usr/sbin/${each}`, busybox])),
    '/usr/local/bin/backlot': '/opt/backlot/backlot',
  },
  folders: {
    '/opt/backlot': 0o755,
    '/mnt/shared': 0o755,
    '/etc/dropbear': 0o700,
    '/var/lib/backlot': 0o700,
  },
  diskBytes: 3 * 1024 ** 3,
  defaults: { cpu: 2, memory: '2GB', diskSize: '20GB', display: '1280x800' },
  ports: [22, 8000, 6080],
}
