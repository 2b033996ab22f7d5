/** Programs of the system that building needs, each with the Debian package that has it. */
import { Failure } from '@backlot/contract/failure'

const packageOf = {
  'apt-get': 'apt',
  'apt-cache': 'apt',
  'dpkg-deb': 'dpkg',
  xz: 'xz-utils',
  mke2fs: 'e2fsprogs',
  debugfs: 'e2fsprogs',
} as const

export type SystemProgram = keyof typeof packageOf

/** How a program is run. */
export interface RunOptions {
  readonly cwd?: string
  readonly input?: Uint8Array
  readonly signal?: AbortSignal | undefined
  /** Hears each line of standard output while the program runs. */
  readonly onLine?: (line: string) => void
  /** Hears each line of standard error, however the program ends. */
  readonly onComplaint?: (line: string) => void
  /** Words before the program. */
  readonly before?: readonly string[]
  /** A descriptor that the program has as number 3. */
  readonly third?: number
}

// Ordinary users often lack the system's own folders on their PATH.
const searched = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`

const find = (name: SystemProgram): string => {
  const path = Bun.which(name, { PATH: searched })
  if (path !== null) return path
  throw new Failure(
    'missing_program',
    `Building an image needs the program "${name}", which is not here. Install it: apt-get install ${packageOf[name]}. Images are built on Debian and Ubuntu.`,
    { program: name, packages: [packageOf[name]] },
  )
}

/** Throws `missing_program` where one of the programs is absent. */
export const requirePrograms = (): void => {
  for (const name of Object.keys(packageOf) as SystemProgram[]) find(name)
}

/** What the program writes to standard output; throws `missing_program`, `image_not_built` with its last words, or `cancelled`. */
export const run = async (
  name: SystemProgram,
  args: readonly string[],
  { cwd, input, signal, onLine, onComplaint, before = [], third }: RunOptions = {},
): Promise<Uint8Array> => {
  const program = find(name)
  if (signal?.aborted) throw cancelled()
  const child = Bun.spawn([...before, program, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    ...(signal === undefined ? {} : { signal }),
    env: { ...process.env, LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
    stdio: [input ?? 'ignore', 'pipe', 'pipe', ...(third === undefined ? [] : [third])],
  })
  const ended = Promise.all([
    onLine === undefined ? child.stdout.bytes() : lines(child.stdout, onLine),
    child.stderr.text(),
    child.exited,
  ])
  const [output, complaint] = await ended.catch(async (error) => {
    // Reading what it says may end before it does.
    await child.exited
    throw signal?.aborted ? cancelled() : error
  })
  if (signal?.aborted) throw cancelled()
  for (const line of complaint.split('\n')) if (line.trim() !== '') onComplaint?.(line)
  if (child.exitCode === 0) return output
  const last = complaint.trim().split('\n').slice(-4).join(' ')
  throw new Failure('image_not_built', `"${name}" failed (exit status ${child.exitCode}): ${last}`, {
    program: name,
    status: child.exitCode,
    complaint: last,
  })
}

const cancelled = (): Failure => new Failure('cancelled', 'Building the image was cancelled; nothing of it is kept.')

const lines = async (stream: ReadableStream<Uint8Array>, hear: (line: string) => void): Promise<Uint8Array> => {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const part of stream) {
    const pieces = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = pieces.pop() ?? ''
    for (const line of pieces) hear(line)
  }
  if (rest !== '') hear(rest)
  return new Uint8Array()
}
