# Becomes a command as user 0 of a new user namespace that has the caller's ids and those that /etc/subuid gives it. The
# caller is user 0 there, and FIRST_USER and the COUNT after it are the users from 1 on. Called by an ordinary user as:
#   sh -c TEXT NAME USER GROUP FIRST_USER FIRST_GROUP COUNT COMMAND...
# The command has the place of this shell, so that its parent is this shell's.
set -eu
user=$1
group=$2
first_user=$3
first_group=$4
count=$5
shift 5
# It is entered when it has its ids; another process holds it until then, which ends by itself where this one is killed.
unshare --user sleep 5 >/dev/null </dev/null 3>&- &
holder=$!
while [ "$(readlink /proc/$holder/ns/user)" = "$(readlink /proc/$$/ns/user)" ]; do kill -0 $holder; done
newuidmap $holder 0 "$user" 1 1 "$first_user" "$count" </dev/null
newgidmap $holder 0 "$group" 1 1 "$first_group" "$count" </dev/null
exec 9</proc/$holder/ns/user
kill $holder
wait $holder 2>/dev/null || :
exec nsenter --user=/proc/self/fd/9 --setuid 0 --setgid 0 -- /bin/sh -c 'exec 9<&-; exec "$@"' backlot-ids "$@"
