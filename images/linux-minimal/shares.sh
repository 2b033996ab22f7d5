#!/bin/sh
# Mounts the folders that the host shares below /mnt/shared, each under its tag.
# virtiofs does not tell its tags before it is mounted: the host names them on the kernel's command line.
has() { grep -qsx "0x000$1" /sys/bus/virtio/devices/*/device; }

if has 9; then
  modprobe -a 9pnet_virtio 9p
  for share in /sys/bus/virtio/drivers/9pnet_virtio/virtio*/mount_tag; do
    tag=$(tr -d '\0' <"$share")
    mkdir -p "/mnt/shared/$tag"
    grep -qs " /mnt/shared/$tag " /proc/mounts ||
      mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 "$tag" "/mnt/shared/$tag"
  done
fi

tags=$(sed -n 's/.*backlot\.virtiofs=\([^ ]*\).*/\1/p' /proc/cmdline | tr ',' ' ')
[ -z "$tags" ] || modprobe virtiofs
for tag in $tags; do
  mkdir -p "/mnt/shared/$tag"
  grep -qs " /mnt/shared/$tag " /proc/mounts || mount -t virtiofs "$tag" "/mnt/shared/$tag"
done
