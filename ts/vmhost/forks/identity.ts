/** What makes a fork another machine than its parent, given by the agent of its guest after it goes on. */
import type { Machine } from '../hypervisors/hypervisor.ts'
import { hostNameOf } from '../vms/seed.ts'
import type { StoredVm } from '../vms/vm-store.ts'

/** Milliseconds that it may take; a guest under emulation makes keys slowly. */
const withinMs = 60_000

/**
 * Gives the guest a MAC address, machine id, host name, host keys, random seed and clock of its own, and says whether it has
 * them: a guest without an agent, or of a system that is no Linux, keeps those of its parent.
 */
export const assignIdentity = async (machine: Machine, vm: StoredVm, parentMac: string): Promise<boolean> => {
  if (vm.settings.guestOs !== 'linux') return false
  try {
    if (!(await listens(machine))) return false
    const { exitCode } = await machine.guest.execute({ command: script(vm, parentMac) }, withinMs)
    return exitCode === 0
  } catch {
    return false
  }
}

/** Milliseconds in which an agent that listened comes to listen again after its guest went on, and between two looks. */
const listensAgain = { withinMs: 8_000, pollIntervalMs: 50 } as const

/** Whether the agent of a guest that was resumed listens again. */
export const listens = async (machine: Machine): Promise<boolean> => {
  const deadline = performance.now() + listensAgain.withinMs
  while (!(await machine.hasAgent())) {
    if (performance.now() > deadline) return false
    await Bun.sleep(listensAgain.pollIntervalMs)
  }
  return true
}

/** A command for the guest's shell that sets its clock to the time here. */
export const clockCommand = (): string => `date -u -s @${Math.floor(Date.now() / 1000)} >/dev/null`

/** Names and addresses in it are of letters, digits, `-` and `:` only. */
const script = ({ name, settings }: StoredVm, parentMac: string): string => {
  const seed = Buffer.from(crypto.getRandomValues(new Uint8Array(64))).toString('hex')
  const { macAddress, instanceId } = settings
  return `set -e
echo ${seed} >/dev/urandom
${clockCommand()}
for card in /sys/class/net/*; do
  if [ "$(cat "$card/address")" = ${parentMac} ]; then
    card=\${card##*/}
    ip link set dev "$card" address ${macAddress}
    ip neigh flush dev "$card" 2>/dev/null || true
    gateway=$(ip route | awk '$1 == "default" { print $3; exit }')
    [ -z "$gateway" ] || ping -c 1 -W 1 "$gateway" >/dev/null 2>&1 || true
  fi
done
tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
echo ${hostNameOf(name)} >/etc/hostname
hostname ${hostNameOf(name)}
if [ -e /var/lib/backlot/instance ]; then echo ${instanceId} >/var/lib/backlot/instance; fi
rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub /etc/dropbear/*_host_key
if command -v ssh-keygen >/dev/null && [ -d /etc/ssh ]; then ssh-keygen -A >/dev/null; fi
for server in sshd dropbear; do
  pids=$(pidof $server 2>/dev/null || cat /run/$server.pid 2>/dev/null || true)
  for pid in $pids; do
    [ "$(awk '{ print $4 }' /proc/$pid/stat)" = 1 ] || continue
    if [ $server = dropbear ]; then
      words=$(tr '\\0' '\\n' </proc/$pid/cmdline)
      # A connection that the parent had has nobody at its other end here, and one of it would be taken for the server.
      kill -KILL $pids 2>/dev/null || true
      for each in $pids; do while [ -d /proc/$each ]; do sleep 0.05; done; done
      pidof dropbear >/dev/null || (IFS='
'; set -f; exec $words) </dev/null >/dev/null 2>&1 &
    elif command -v systemctl >/dev/null; then systemctl restart ssh 2>/dev/null || systemctl restart sshd
    fi
    break
  done
done
sync`
}
