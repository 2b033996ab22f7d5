#!/bin/sh
# Called by udhcpc with what the network offers.
case $1 in
  bound | renew)
    ip addr replace "$ip/${mask:-24}" dev "$interface"
    [ -z "$router" ] || ip route replace default via "${router%% *}"
    for server in $dns; do echo "nameserver $server"; done >/etc/resolv.conf
    ;;
esac
