# Runs a command as user 0 of own roots, in namespaces of its own: it sees FOLDER, which becomes its own, at /mnt/build.
# Called in a mount namespace of its own by user 0 of one that has the ids of own roots, of which OWNER is user 0, as:
#   sh -c TEXT NAME OWNER FOLDER COMMAND...
# The command has the place of this shell.
set -eu
owner=$1
folder=$2
shift 2
chown "$owner:$owner" "$folder"
mount -t tmpfs -o mode=0755,size=1m build /mnt
mkdir /mnt/build
mount --bind "$folder" /mnt/build
exec "$@"
