/** What ends a desktop, on every path: a shell that outlives its owner by as long as that takes. */
import { basename } from 'node:path'
import { environment } from '@backlot/contract/limits'

/**
 * Reads its standard input until the end, which comes when the owner closes it or dies however it dies. Then it kills
 * every process whose environment carries the desktop's name, and removes the X server's socket, which a killed server
 * leaves behind, and the folder. `$1` is the folder, `$2` the variable that every process of the desktop has.
 *
 * The socket of a living server goes before the server, because nobody else can take its display number as long as it
 * lives; that of a dead one goes only if no other server listens on it by now.
 */
const script = String.raw`
trap '' HUP INT QUIT TERM PIPE
while read -r line; do :; done
members() { grep -lzxFs -- "$1" /proc/[0-9]*/environ | cut -d / -f 3; }
server=
if [ -r "$1/x-server.pid" ]; then read -r server <"$1/x-server.pid"; fi
if [ -n "$server" ] && grep -qzxFs -- "$2" "/proc/$server/environ"; then
  inodes=$(readlink "/proc/$server/fd/"* | sed -n 's/^socket:\[\([0-9]*\)\]$/:\1:/p')
  while read -r slot count protocol flags type state inode path; do
    case $inodes in *":$inode:"*) case $path in /tmp/.X11-unix/X*) rm -f "$path" ;; esac ;; esac
  done </proc/net/unix
fi
rounds=0
while pids=$(members "$2") && [ -n "$pids" ] && [ "$rounds" -lt 250 ]; do
  kill -KILL $pids
  rounds=$((rounds + 1))
  [ "$rounds" -lt 3 ] || sleep 0.02
done
if [ -r "$1/display" ]; then
  read -r number <"$1/display"
  grep -q " /tmp/.X11-unix/X$number\$" /proc/net/unix || rm -f "/tmp/.X11-unix/X$number"
fi
rm -rf "$1"
`

/** Value of the variable that marks every process of the desktop in this folder. */
export const markOf = (folder: string): string => basename(folder)

/** Ends one desktop: at once when `end` is called, by itself when the process dies that started it. */
export interface Guardian {
  readonly pid: number
  /** Ends every process of the desktop and removes what it left; settles when that is done. Calling it twice is fine. */
  end(): Promise<void>
}

/** Starts the guardian of the desktop in `folder`, in a session of its own and without the desktop's mark. */
export const startGuardian = (folder: string): Guardian => {
  const shell = Bun.spawn(
    ['/bin/sh', '-c', script, 'backlot-desktop-guardian', folder, `${environment.desktop}=${markOf(folder)}`],
    {
      cwd: '/',
      env: { PATH: process.env.PATH ?? '' },
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
      detached: true,
    },
  )
  return {
    pid: shell.pid,
    async end() {
      shell.stdin.end()
      await shell.exited
    },
  }
}

/** Ends what is left of a desktop whose owner is dead. */
export const sweep = (folder: string): Promise<void> => startGuardian(folder).end()
