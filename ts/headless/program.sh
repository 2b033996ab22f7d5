# A program on a desktop: called with a FIFO, to which the program's pid and then its status are written, with the file
# for this shell's own pid, and with the command.
#
# What the program leaves behind becomes a child of this shell, in whatever session and with whatever environment. So
# that the guardian finds it, the shell stops itself at the program's end, and ends with the desktop.
trap : HUP INT QUIT TERM
fifo=$1
echo $$ >>"$2"
shift 2
exec 3>"$fifo"
# The program's own streams; what this shell would say of its end is nobody's.
exec 4>&2 2>/dev/null
/bin/sh -c 'echo $$ >&3; exec 2>&4 3>&- 4>&-; exec "$@"' sh "$@"
echo $? >&3
exec 3>&-
kill -STOP $$
