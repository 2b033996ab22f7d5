# Becomes a command, after what only this process can do for it: joins control groups, mounts a disk, and, where it may
# mount, shows the command what it reaches alone. As root it lets it run as nobody that this machine knows.
#
#   --cgroup FILE        writes this process into the control group with that `cgroup.procs`
#   --disk IMAGE FOLDER  mounts an image of a file system
#   --stage FOLDER       begins a table of files and folders, in an empty folder
#   --show SOURCE NAME   puts one on the table: it is /mnt/NAME afterwards
#   --give ID PATH       gives a file or folder to that user and group
#   --lower PATH         a folder of an overlay that is not written to; the first one lies uppermost
#   --overlay DIR KIND   mounts DIR/upper over the lower folders, with DIR/work: it is /mnt/root afterwards. What it hides
#                        it keeps in extended attributes of the kind `trusted`, or of the kind `user`
#   --user NUMBER        the user and group that the command runs as
#   -- COMMAND...        the command, in the place of this shell, so that its parent is this shell's
#
# Descriptor 3 of the command is its standard output too, for what bwrap says of the sandbox on a descriptor that it closes.
# Mounts are of the mount namespace that this is started in, and go with it.
set -eu
stage=''
user=''
lowers=''
count=0
while [ "$1" != -- ]; do
  case $1 in
    --cgroup) echo $$ >"$2"; shift 2 ;;
    --disk) mount -o loop,nosuid,nodev "$2" "$3"; shift 3 ;;
    --stage) stage=$2; mount -t tmpfs -o mode=0755,size=1m stage "$stage"; shift 2 ;;
    --show)
      if [ -d "$2" ]; then mkdir "$stage/$3"; else : >"$stage/$3"; fi
      mount --rbind "$2" "$stage/$3"
      shift 3 ;;
    --give) chown --no-dereference "$2:$2" "$3"; shift 3 ;;
    --lower)
      count=$((count + 1))
      mkdir "$stage/lower$count"
      mount --bind "$2" "$stage/lower$count"
      lowers=${lowers:+$lowers:}lower$count
      shift 2 ;;
    --overlay)
      mkdir "$stage/files" "$stage/root"
      mount --bind "$2" "$stage/files"
      options=lowerdir=$lowers,upperdir=files/upper,workdir=files/work
      [ "$3" = trusted ] || options=$options,userxattr
      # From its folder: paths with a comma or a colon mean something else to mount.
      (cd "$stage" && mount -t overlay -o "$options" overlay root)
      umount "$stage/files"
      while [ $count -gt 0 ]; do umount "$stage/lower$count"; count=$((count - 1)); done
      shift 3 ;;
    --user) user=$2; shift 2 ;;
    *) echo "enter: unknown word $1" >&2; exit 64 ;;
  esac
done
shift
exec 3>&1
# Not moved: mount(8) cannot do so in a user namespace.
if [ -n "$stage" ]; then
  mount --rbind "$stage" /mnt
  umount --lazy "$stage"
fi
[ -z "$user" ] || exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all -- "$@"
exec "$@"
