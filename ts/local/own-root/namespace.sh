# Becomes a command as user 0 of a new user namespace, whose ids are COUNT of the caller's namespace from FIRST on. Called by
# user 0 of that one as:
#   sh -c TEXT NAME FIRST COUNT COMMAND...
# The command has the place of this shell, so that its parent is this shell's.
set -eu
first=$1
count=$2
shift 2
# The kernel gives all rights in a namespace to who enters it, and leaves them to its user 0 alone: so it is entered when
# it has its ids, and another process holds it until then, which ends by itself where this one is killed.
unshare --user sleep 5 >/dev/null </dev/null 3>&- &
holder=$!
while [ "$(readlink /proc/$holder/ns/user)" = "$(readlink /proc/$$/ns/user)" ]; do kill -0 $holder; done
echo "0 $first $count" >/proc/$holder/uid_map
echo "0 $first $count" >/proc/$holder/gid_map
exec 9</proc/$holder/ns/user
kill $holder
wait $holder 2>/dev/null || :
exec nsenter --user=/proc/self/fd/9 --setuid 0 --setgid 0 -- /bin/sh -c 'exec 9<&-; exec "$@"' backlot-root "$@"
