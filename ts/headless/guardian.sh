# What ends a desktop: called with its folder and with the variable that every process of the desktop is started with.
#
# Reads its standard input until the end, which comes when the owner closes it or dies however it dies. Then it kills
# every process whose environment carries that variable and all that descends from one, whatever became of its own
# environment, and removes the X server's socket, which a killed server leaves behind, and the folder.
#
# The parents of orphans are killed last: until then what a killed process had just started descends from them.
# Guardians of desktops within this one are spared, because the death of their owners is what they wait for.
#
# The socket of a living server goes before the server, because nobody else can take its display number as long as it
# lives; that of a dead one goes only if no other server listens on it by now.
folder=$1
mark=$2
trap '' HUP INT QUIT TERM PIPE
while read -r line; do :; done

# Pids of the processes that have the line $2 in the file $1 of theirs.
having() { grep -lzxFs -- "$2" /proc/[0-9]*/"$1" | cut -d / -f 3 | tr '\n' ' '; }

# Lines PID:PARENT of all processes that have not ended.
parents() {
  for status in /proc/[0-9]*/status; do
    pid=${status#/proc/}
    while read -r key value; do
      case $key$value in
        State:[ZX]*) break ;;
        PPid:*) echo "${pid%/status}:$value"; break ;;
      esac
    done <"$status"
  done
}

# Sets `family` to the pids of the desktop's processes, and `dying` where one that was killed has not ended.
look() {
  family=" $(having environ "$mark")"
  spared=" $(having cmdline "$0")"
  table=$(parents)
  dying=
  for pair in $table; do
    case $killed in *" ${pair%:*} "*) dying=yes ;; esac
  done
  known=
  while [ "$known" != "$family" ]; do
    known=$family
    for pair in $table; do
      case $family$spared in *" ${pair%:*} "*) continue ;; esac
      case $family in *" ${pair#*:} "*) family="$family${pair%:*} " ;; esac
    done
  done
}

server=
if [ -r "$folder/x-server.pid" ]; then read -r server <"$folder/x-server.pid"; fi
if [ -n "$server" ] && grep -qzxFs -- "$mark" "/proc/$server/environ"; then
  inodes=$(readlink "/proc/$server/fd/"* | sed -n 's/^socket:\[\([0-9]*\)\]$/:\1:/p')
  while read -r slot count protocol flags type state inode path; do
    case $inodes in *":$inode:"*) case $path in /tmp/.X11-unix/X*) rm -f "$path" ;; esac ;; esac
  done </proc/net/unix
fi

# A process that is just starting a program shows no environment: nobody is left where two looks in turn see nobody.
rounds=0
killed=' '
empty=0
while [ "$rounds" -lt 250 ]; do
  look
  if [ -z "${family# }$dying" ]; then
    empty=$((empty + 1))
    [ "$empty" -lt 2 ] || break
    sleep 0.01
    continue
  fi
  empty=0
  last=
  if [ -r "$folder/subreapers" ]; then last=" $(tr '\n' ' ' <"$folder/subreapers")"; fi
  first=
  for pid in $family; do
    case $last in *" $pid "*) ;; *) first="$first $pid" ;; esac
  done
  first=${first:-$family}
  # shellcheck disable=SC2086 # a list of pids
  [ -z "${first# }" ] || kill -KILL $first
  killed="$killed$first "
  rounds=$((rounds + 1))
  [ "$rounds" -lt 3 ] || sleep 0.02
done

if [ -r "$folder/display" ]; then
  read -r number <"$folder/display"
  grep -q " /tmp/.X11-unix/X$number\$" /proc/net/unix || rm -f "/tmp/.X11-unix/X$number"
fi
rm -rf "$folder"
