/** The computer server in a guest that has none of its own: how it is brought up, and the key that it asks for. */
import { randomBytes } from 'node:crypto'
import { shellText } from '@backlot/contract/text/shell-text'

/** The file with the key, in the guest. */
export const keyPath = '/etc/backlot/computer.key'

/** The port that the server listens on. */
export const guestPort = 8_000

export const newKey = (): string => randomBytes(32).toString('base64url')

/**
 * User data, a script that a guest with Linux runs once: it starts the server from the disk labelled BACKLOT, now and at each
 * start; what it starts has the variables. Nothing is done where the image starts a server itself.
 */
export const serverScript = (key: string, variables: Readonly<Record<string, string>>): string => {
  // No value can have it as a line of its own.
  const end = `END_${newKey()}`
  return `#!/bin/sh
set -e
[ ! -x /usr/lib/backlot/entry ] || exit 0
mkdir -p /etc/backlot /opt/backlot
(umask 077; echo ${key} >${keyPath})
cat >/etc/backlot/variables <<'${end}'
${exported(variables)}${end}
cat >/etc/backlot/serve <<'END'
#!/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/root USER=root LOGNAME=root SHELL=/bin/sh LANG=C.UTF-8
export PATH HOME USER LOGNAME SHELL LANG
cd /root
. /etc/backlot/variables
[ -x /opt/backlot/backlot ] || mount -t ext4 -o ro "$(findfs LABEL=BACKLOT)" /opt/backlot
# linux-minimal answers on the port itself, to say that there is no computer server.
for pid in $(pidof nc 2>/dev/null); do
  ! tr '\\0' ' ' </proc/$pid/cmdline | grep -q '^nc -ll -p ${guestPort} ' || kill "$pid"
done
exec /opt/backlot/backlot computer --host 0.0.0.0 --port ${guestPort} --name localhost \\
  --key-file ${keyPath} >>/var/log/backlot-computer.log 2>&1
END
chmod 755 /etc/backlot/serve
if [ -d /run/systemd/system ]; then
  cat >/etc/systemd/system/backlot-computer.service <<'END'
[Unit]
After=network.target
[Service]
ExecStart=/etc/backlot/serve
Restart=always
[Install]
WantedBy=multi-user.target
END
  systemctl enable --now backlot-computer.service
else
  echo '::respawn:/etc/backlot/serve' >>/etc/inittab
  kill -HUP 1
fi
`
}

const exported = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellText(value)}\n`)
    .join('')
