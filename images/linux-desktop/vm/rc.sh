#!/bin/sh
# Brings the guest up: what the desktop needs comes first, network and the rest beside it.
PATH=/usr/lib/backlot/guest/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
lib=/usr/lib/backlot
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 tmp /tmp
mkdir -p /dev/pts /dev/shm
mount -t devpts -o mode=620 pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
ip link set lo up

. $lib/identity
. $lib/shares

modprobe virtio_net
ip link set eth0 up
udhcpc -i eth0 -s $lib/dhcp -p /run/udhcpc.pid -S -b -t 10 -T 1 -x "hostname:$name" >/dev/null 2>&1 &
$lib/late </dev/null >/var/log/late.log 2>&1 &

# The executable is on a disk of its own: another one changes nothing here.
executable=$(findfs LABEL=BACKLOT 2>/dev/null) && mount -t ext4 -o ro "$executable" /opt/backlot
