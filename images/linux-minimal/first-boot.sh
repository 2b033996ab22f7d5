#!/bin/sh
# Runs the user data of the seed once for each instance; what it prints is kept in /var/log/first-boot.log.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
state=/var/lib/backlot
data=/run/seed/user-data
[ -s $data ] && [ ! -e $state/first-boot-done ] || exit 0
exec >>/var/log/first-boot.log 2>&1
cd / || exit
case $(head -c 2 $data) in
  '#!') cp $data $state/user-data && chmod 700 $state/user-data && $state/user-data ;;
  *)
    sed -n 's/^runcmd //p' $data.lines >$state/user-data
    sh $state/user-data
    grep -v '^\(runcmd\|hostname\|ssh_authorized_keys\) ' $data.lines |
      while read -r key _; do echo "this guest does not know the key \"$key\" of cloud-config; it was left out"; done
    ;;
esac
touch $state/first-boot-done
sync
