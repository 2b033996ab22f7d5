#!/bin/sh
# Runs a program of the guest's own with the libraries that it came with, which may be of another release than the root's.
guest=/usr/lib/backlot/guest
# What the root's packages lack, busybox has.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$guest/bin
export PATH
# Its name has no folder: dropbear would begin its own file anew for each connection, and that by itself lacks its libraries.
exec $guest/lib64/ld-linux-x86-64.so.2 --library-path $guest/lib/x86_64-linux-gnu --argv0 "${0##*/}" $guest"PROGRAM" "$@"
