#!/bin/sh
# Who this machine is. A copy of a disk that wakes up as another instance gets a name and keys of its own.
# The instance is named by the seed (a disk labelled CIDATA, as cloud-init's NoCloud has it), else by the machine's UUID.
lib=/usr/lib/backlot
state=/var/lib/backlot
instance=$(cat /sys/class/dmi/id/product_uuid 2>/dev/null || echo unnamed)
seed=''
if [ -b /dev/vdb ]; then
  modprobe -a isofs vfat nls_cp437 nls_ascii
  seed=$(findfs LABEL=CIDATA 2>/dev/null || findfs LABEL=cidata 2>/dev/null)
fi
mkdir -p -m 700 /run/seed $state
if [ -n "$seed" ] && mount -o ro "$seed" /mnt 2>/dev/null; then
  cp /mnt/meta-data /mnt/user-data /run/seed/ 2>/dev/null
  umount /mnt
  for part in meta-data user-data; do
    case $(head -c 2 /run/seed/$part 2>/dev/null) in
      '#!' | '') ;;
      *) awk -f $lib/cloud-config.awk /run/seed/$part >/run/seed/$part.lines ;;
    esac
  done
  named=$(sed -n 's/^instance-id //p' /run/seed/meta-data.lines)
  instance=${named:-$instance}
fi

if [ "$instance" != "$(cat $state/instance 2>/dev/null)" ]; then
  rm -f /etc/dropbear/*_host_key $state/first-boot-done
  head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >/etc/machine-id
  echo >>/etc/machine-id
  name=$(cat /run/seed/*.lines 2>/dev/null | sed -n 's/^\(local-hostname\|hostname\) //p' | tail -n 1)
  echo "${name:-linux-minimal}" >/etc/hostname
  keys=$(cat /run/seed/*.lines 2>/dev/null | sed -n 's/^\(public-keys\|ssh_authorized_keys\) //p')
  if [ -n "$keys" ]; then
    mkdir -p -m 700 ~root/.ssh
    echo "$keys" >~root/.ssh/authorized_keys
    chmod 600 ~root/.ssh/authorized_keys
  fi
  echo "$instance" >$state/instance.new
  sync
  mv $state/instance.new $state/instance
fi
hostname -F /etc/hostname
