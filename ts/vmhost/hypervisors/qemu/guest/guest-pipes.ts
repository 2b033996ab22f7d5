/** Words for the shell of a guest with Linux that join a command to pipes, and the pipes to files which the agent can read. */

/** The outputs of a command, as their pipes and files are called. */
export const streams = ['stdout', 'stderr'] as const
export type StreamName = (typeof streams)[number]

/** The pipe that a command reads, as it is called. */
const stdin = 'stdin'
/** The pipe by which whoever holds `stdin` open is told that no more comes. */
const hold = 'hold'

/**
 * Bytes that are written to a file at a time, so many times until the next file is begun: an output that nobody reads fills
 * two such files, then its pipe, and the command waits.
 */
const written = { size: '64k', times: 64 } as const

/** Seconds that files are kept for a host that does not take them, as one that has died. */
const keptSeconds = 3_600

/** Times, a twentieth of a second apart, that is looked for the pipes of a command which begins. */
const mostLooks = 1_200

/**
 * What stands before a command whose outputs go to pipes in a folder of letters, digits, `/`, `.` and `-`, which is made; it
 * begins once `pumps` runs beside it. Where nothing can be written there the outputs stay the agent's, and a command that is
 * to read what comes is not run.
 */
export const joinedTo = (folder: string, hasInput: boolean): string => {
  const pipes = [...streams, ...(hasInput ? [stdin, hold] : [])].map((name) => `${folder}/${name}`).join(' ')
  const [out, err] = streams.map((name) => `${folder}/${name}`)
  return `if { mkdir -m 700 ${folder} && mkfifo ${pipes} && : >${out}.0 && : >${err}.0; } 2>/dev/null
then exec >${out} 2>${err}${hasInput ? ` <${folder}/${stdin}\nelse exit 125` : ''}
fi`
}

/**
 * A command that runs as long as the pipes are used. The outputs go to the files `stdout.0`, `stdout.1` …, each whole once the
 * next is there, and the last once `stdout.end` is; one that was emptied is read. It is no child of the command's shell, which may wait for
 * all of its own.
 */
export const pumps = (folder: string, hasInput: boolean, waitsSeconds: number): string => `n=0
until [ -e ${folder}/${streams[1]}.0 ]; do
[ $n -lt ${mostLooks} ] || exit
sleep 0.05; n=$((n+1))
done
cd ${folder} || exit
${pump(waitsSeconds)}
${hasInput ? `{ exec 3>${stdin}; read -r n <${hold}; } &` : ''}
pump stdout <stdout & out=$!
pump stderr <stderr & wait $out $!
${hasInput ? `: 3<>${hold} 4<>${stdin}` : ''}
n=0
while [ -d ${folder} ] && [ $n -lt ${keptSeconds / 5} ]; do sleep 5; n=$((n+1)); done
rm -rf ${folder}`

/** A function that writes what comes through a pipe to files, and lets the pipe fill up while two of them were not read. */
const pump = (waitsSeconds: number): string => `pump() {
n=0
while dd bs=${written.size} count=${written.times} of=$1.$n 2>/dev/null || { rm -rf "$PWD"; exit; }; [ -s $1.$n ]; do
n=$((n+1)) i=0
while [ -s $1.$((n-2)) ]; do
[ $i -lt ${Math.ceil(waitsSeconds) * 10} ] || { rm -rf "$PWD"; exit; }
sleep 0.1; i=$((i+1))
done
rm -f $1.$((n-2))
done
: >$1.end
}`

/** A command that writes what it reads to the command's input; it ends with an error where nobody reads that any more. */
export const writesInput = (folder: string): string =>
  `until [ -p ${folder}/${stdin} ]; do sleep 0.05; done; exec cat >${folder}/${stdin}`

/** A command after which the input of the command is at its end. */
export const endsInput = (folder: string): string =>
  `until [ -p ${folder}/${hold} ]; do sleep 0.05; done; : >${folder}/${hold}`

/** A command that writes a mark behind all that a command wrote that has ended; it ends with an error where its files were lost. */
export const marksOutputs = (folder: string, mark: string): string =>
  `cd ${folder} || exit 3; ${streams.map((name) => `printf %s ${mark} 1<>${name}`).join('; ')}`

/** A command that removes the pipes and files; what a command has left in the background may write on, and nobody reads it. */
export const removePipesCommand = (folder: string): string => `cd ${folder} || exit 0
for each in ${streams.join(' ')}; do
[ -e $each.end ] || { exec 3<>$each 4<$each 3>&-; cat <&4 >/dev/null & }
done
[ ! -p ${hold} ] || : 3<>${hold} 4<>${stdin}
rm -rf ${folder}`
