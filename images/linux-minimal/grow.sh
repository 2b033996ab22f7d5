#!/bin/sh
# Grows the root file system to its disk, when that is larger than it was.
read -r device </etc/root-device
read -r sectors <"/sys/class/block/${device#/dev/}/size"
[ "$sectors" = "$(cat /var/lib/backlot/sectors 2>/dev/null)" ] && exit
resize2fs "$device" && echo "$sectors" >/var/lib/backlot/sectors
