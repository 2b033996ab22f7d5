# What ends a desktop: called with its folder and with the variable that every process of the desktop is started with.
#
# Reads its standard input until the end, which comes when the owner closes it or dies however it dies. Then it kills
# every process whose environment carries that variable and all that descends from one, whatever became of its own
# environment, and removes the X server's socket, which a killed server leaves behind, and the folder.
#
# Where the last line that it reads is the number of a process, which waits for its end, all that descends from that one
# ends too: some programs erase their environment, Chromium among them.
#
# The parents of orphans (subreapers) are killed last, when nothing that descends from them lives: until then what a
# killed process had just started descends from them. Guardians of desktops within this one are waited for and spared,
# because the death of their owners is what they wait for; and so is an X server that the desktop was given, whose pid
# stands in the file `spared` of the folder.
#
# The socket of a living server goes before the server, because nobody else can take its display number as long as it
# lives, and when the server is stopped, because it makes none after that; that of a dead one goes only if no other server listens on it by now.
folder=$1
mark=$2
trap '' HUP INT QUIT TERM PIPE
owner=
while read -r line; do owner=$line; done

# Pids of the processes that have the line $2 in the file $1 of theirs.
having() { grep -lzxFs -- "$2" /proc/[0-9]*/"$1" | cut -d / -f 3 | tr '\n' ' '; }

# Lines PID:PARENT of all processes that have not ended. One whose first thread has ended lives as long as others do. The
# three lines of each status stand in this order (proc(5)); a shell would read them byte by byte.
parents() {
  grep -EHs '^(State|PPid|Threads):' /proc/[0-9]*/status |
    sed -n '$!N;$!N;/:State:.[ZX].*:Threads:.[01]$/d;s|^/proc/\([0-9]*\)/.*:PPid:.\([0-9]*\)\n.*|\1:\2|p'
}

# Sets `family` to the pids of the desktop's processes, and `dying` where one that was killed has not ended.
look() {
  family=" $(having environ "$mark")"
  spared=" $(having cmdline "$0")"
  if [ -r "$folder/spared" ]; then read -r given <"$folder/spared"; spared="$spared$given "; fi
  table=$(parents)
  dying=
  for pair in $table; do
    case $killed in *" ${pair%:*} "*) dying=yes ;; esac
    if [ "${pair#*:}" = "$owner" ]; then
      case $family$spared in *" ${pair%:*} "*) ;; *) family="$family${pair%:*} " ;; esac
    fi
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

# Succeeds where a process is starting a program: until it runs it shows no environment, nor arguments.
starting() {
  for file in $(grep -Lzs . /proc/[0-9]*/cmdline); do
    # A kernel thread has no program, and the one of a stranger does not show.
    [ ! -e "${file%cmdline}exe" ] || return 0
  done
  return 1
}

# Sets `state` to the letter of the state of the process $1 (proc(5)), empty where it has ended.
see() {
  state=
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
  # shellcheck disable=SC2086 # fields
  set -- ${stat##*) }
  case $1 in [ZX]) [ "${18}" -gt 1 ] || return ;; esac
  state=$1
}

# Sets `children` to those of the process $1, and `living` where one of them that is not spared had to be killed.
end_children() {
  children=
  living=
  read -r children <"/proc/$1/task/$1/children"
  for child in $children; do
    case $spared in *" $child "*) ;; *) kill -KILL "$child" ;; esac
    see "$child"
    [ -z "$state" ] || living=yes
  done
}

# Kills the subreaper $1 when all has ended that descends from it, and else its children; fails until it has done so.
#
# Each of its descendants is a child of it or below one, so that there is none where all of its children have ended and
# no more of them have come since. A stopped one starts none itself; as long as there are some it runs, and buries them.
bereave() {
  end_children "$1"
  [ -z "$living" ] || return 1
  see "$1"
  case $state in '') return 0 ;; [Tt]) ;; *) kill -STOP "$1"; return 1 ;; esac
  end_children "$1"
  before=$children
  [ -n "$living" ] || end_children "$1"
  # The list is whole where none went from it while it was read.
  for child in $children; do [ -e "/proc/$child" ] || living=yes; done
  if [ -n "$living" ] || [ "$before" != "$children" ]; then kill -CONT "$1"; return 1; fi
  kill -KILL "$1"
  killed="$killed$1 "
}

# Removes the sockets of the X server once it is stopped, as it was told to be: it makes none any more.
unlink_sockets() {
  server=
  if [ -r "$folder/x_server.pid" ]; then read -r server <"$folder/x_server.pid"; fi
  [ -n "$server" ] || return
  looks=0
  while see "$server"; [ "$looks" -lt 1000 ]; do
    case $state in '' | [Tt]) break ;; esac
    looks=$((looks + 1))
  done
  grep -qzxFs -- "$mark" "/proc/$server/environ" || return
  inodes=$(readlink "/proc/$server/fd/"* | sed -n 's/^socket:\[\([0-9]*\)\]$/:\1:/p')
  while read -r slot count protocol flags type state inode path; do
    case $inodes in *":$inode:"*) case $path in /tmp/.X11-unix/X*) rm -f "$path" ;; esac ;; esac
  done </proc/net/unix
}

rounds=0
killed=' '
empty=0
uncertain=0
while [ "$rounds" -lt 250 ]; do
  look
  if [ -z "${family# }$dying" ]; then
    # Some programs never show arguments; all others start in a moment.
    if [ "$uncertain" -lt 50 ] && starting; then uncertain=$((uncertain + 1)); else empty=$((empty + 1)); fi
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
  if [ -n "$first" ]; then
    # shellcheck disable=SC2086 # lists of pids
    { kill -STOP $first; unlink_sockets; kill -KILL $first; }
    killed="$killed${first# } "
  elif [ -z "$dying" ]; then
    for pid in $family; do
      # Who starts others and ends all the time is met in one of many looks without a pause.
      looks=0
      until bereave "$pid" || [ "$looks" -gt 100 ]; do looks=$((looks + 1)); done
    done
  fi
  rounds=$((rounds + 1))
  [ "$rounds" -lt 3 ] || sleep 0.02
done

# What cannot be killed now ends as soon as it can.
# shellcheck disable=SC2086 # a list of pids
[ "$empty" -ge 2 ] || kill -KILL $family

if [ -r "$folder/display" ]; then
  read -r number <"$folder/display"
  socket=/tmp/.X11-unix/X$number
  listening() { grep -q " $socket\$" /proc/net/unix; }
  # Who listens there since the look began is given its socket back, unless it has made another one meanwhile.
  if ! listening && mv -T "$socket" "$socket.$$"; then
    ! listening || mv -nT "$socket.$$" "$socket"
    rm -f "$socket.$$"
  fi
fi
rm -rf "$folder"
