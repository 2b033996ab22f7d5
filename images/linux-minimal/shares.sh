# Mounts the folders that the host shares below /mnt/shared, each under its tag; sourced by /etc/rc and for new devices.
# virtiofs does not tell its tags before it is mounted: the host names them on the kernel's command line.
share() {
  mkdir -p "/mnt/shared/$1"
  grep -qs " /mnt/shared/$1 " /proc/mounts || mount -t "$2" -o "$3" "$1" "/mnt/shared/$1"
}

for device in /sys/bus/virtio/devices/*/device; do
  read -r kind <"$device"
  if [ "$kind" = 0x0009 ]; then
    modprobe -a 9pnet_virtio 9p
    for tag in /sys/bus/virtio/drivers/9pnet_virtio/virtio*/mount_tag; do
      share "$(tr -d '\0' <"$tag")" 9p trans=virtio,version=9p2000.L,msize=262144
    done
    break
  fi
done

read -r words </proc/cmdline
case $words in
  *backlot.virtiofs=*)
    modprobe virtiofs
    tags=${words#*backlot.virtiofs=}
    IFS=,
    for tag in ${tags%% *}; do share "$tag" virtiofs rw; done
    unset IFS
    ;;
esac
