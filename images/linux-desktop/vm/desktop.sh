#!/bin/sh
# The computer server and its desktop; init starts it again where it ends.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
HOME=/root USER=root LOGNAME=root SHELL=/bin/bash LANG=C.UTF-8
export PATH HOME USER LOGNAME SHELL LANG
if ! [ -x /usr/local/bin/backlot ]; then
  echo 'linux-desktop: no disk has the label BACKLOT; without the executable on it there is no computer server' >/dev/console
  exec sleep 3600
fi
read -r words </proc/cmdline
for word in $words; do
  case $word in
    backlot.display=*) export BACKLOT_DESKTOP_SIZE="${word#*=}" ;;
  esac
done
exec /usr/lib/backlot/entry >>/var/log/desktop.log 2>&1
