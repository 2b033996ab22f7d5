#!/bin/sh
# Called for each event of the kernel: a disk that grew, a share that was plugged in.
case $ACTION-$SUBSYSTEM in
  change-block) exec /usr/lib/backlot/grow ;;
  add-virtio) . /usr/lib/backlot/shares ;;
esac
