#!/bin/sh
# First program of the guest: loads what the disk needs, finds the root file system and hands over to it.
give_up() {
  echo "linux-minimal: $1" >/dev/console
  exec busybox poweroff -f
}

busybox mount -t devtmpfs dev /dev
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
while read -r module; do busybox insmod "/modules/$module"; done </modules/order

tries=0
until root=$(busybox findfs LABEL=linux-minimal 2>/dev/null); do
  tries=$((tries + 1))
  [ "$tries" -le 100 ] || give_up 'no disk has a file system with the label "linux-minimal"'
  busybox usleep 50000
done
busybox mount -t ext4 -o noatime "$root" /disk || give_up "$root cannot be mounted"
echo "$root" >/disk/etc/root-device
for folder in dev proc sys; do busybox mount --move /$folder /disk/$folder; done
exec busybox switch_root /disk /sbin/init
