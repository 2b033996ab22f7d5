# A process of a desktop: called with a FIFO, to which its pid and at last its status are written, with the desktop's
# folder, with the name of the part that it is or nothing, and with the command.
#
# What the process leaves behind becomes a child of this shell, in whatever session and with whatever environment. So
# that the guardian finds it, this stays at the process's end, as a program that does nothing, and ends with the desktop;
# where nothing is left behind it ends at once.
trap : HUP INT QUIT TERM PIPE
fifo=$1
folder=$2
part=$3
shift 3
echo $$ >>"$folder/subreapers"
exec 3>"$fifo"
if [ -n "$part" ]; then
  cd / || exit
  exec 2>/dev/null
  # shellcheck disable=SC2016 # expanded by that shell
  /bin/sh -c 'echo $$ >"$0.pid"; echo $$ >&3; exec "$@" </dev/null >&3 2>"$0.log" 3>&-' "$folder/$part" "$@"
else
  # The program's own streams; what this shell would say of its end is nobody's.
  exec 4>&2 2>/dev/null
  # shellcheck disable=SC2016 # expanded by that shell
  /bin/sh -c 'echo $$ >&3; exec 2>&4 3>&- 4>&-; exec "$@"' sh "$@"
fi
echo "backlot-desktop-process ended: $?" >&3
exec 3>&-
# Who has no child has no descendant. The file is there where the kernel tells children (proc(5)).
children=untold
read -r children <"/proc/$$/task/$$/children"
[ -n "$children" ] || exit 0
# Who ignores the ends of its children is rid of them at once; a shell does not, and they stay as zombies.
ignoring=--ignore-signal=CHLD,HUP,INT,QUIT,TERM
env "$ignoring" true && exec env "$ignoring" sleep infinity
while :; do kill -STOP $$; done
