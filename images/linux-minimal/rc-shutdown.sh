#!/bin/sh
sync
umount -a -r 2>/dev/null
mount -o remount,ro / 2>/dev/null
