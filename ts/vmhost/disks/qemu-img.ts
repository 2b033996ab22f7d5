/** `qemu-img`, for what the native core does not do: reading other formats and copying whole disks. */
import { addAbortListener } from 'node:events'
import { truncate } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'

/** What `qemu-img info` says of a file. */
export interface ImageInfo {
  readonly format: string
  readonly 'virtual-size': number
  readonly 'backing-filename'?: string
  readonly 'format-specific'?: {
    readonly data?: { readonly 'data-file'?: string; readonly extents?: readonly { readonly filename: string }[] }
  }
}

/** What work on a disk may hear and tell. */
export interface CopyProgress {
  readonly signal: AbortSignal
  progress(doneBytes: number, totalBytes: number): void
}

/** Describes a file that may be any disk image; throws `disk_tool_failed`. */
export const imageInfo = async (path: string, signal: AbortSignal): Promise<ImageInfo> =>
  JSON.parse(await run(['info', '--output=json', `file:${path}`], path, signal)) as ImageInfo

/** Where a disk is copied to. */
export interface CopyTarget {
  readonly path: string
  readonly format: 'qcow2' | 'raw'
  /** Whether it is written past the page cache, where the file system can: quicker for what nobody reads at once. */
  readonly isDirect?: boolean
}

/**
 * Copies a disk, and all that it lies on, into a file of its own; holes stay holes. Throws `disk_full` and
 * `disk_tool_failed`; half a copy may be left.
 */
export const copyDisk = async (
  source: { readonly path: string; readonly format: string; readonly bytes: number },
  target: CopyTarget,
  { signal, progress }: CopyProgress,
): Promise<void> => {
  const convert = (options: readonly string[]) =>
    run(
      ['convert', '-p', ...options, '-f', source.format, '-O', target.format, source.path, target.path],
      source.path,
      signal,
      (percent) => progress(Math.round((percent / 100) * source.bytes), source.bytes),
    )
  if (!target.isDirect) return void (await convert([]))
  // Clusters of qcow2 are allocated as they are written, so that any order would scatter them.
  const anyOrder = target.format === 'raw' ? ['-W', '-m', '8'] : []
  try {
    await convert(['-t', 'none', ...anyOrder])
  } catch (error) {
    if (!/O_DIRECT|alignment/.test((error as Error).message)) throw error
    await convert([])
  }
  // Where sectors have 4 KiB the last one was filled up.
  if (target.format === 'raw') await truncate(target.path, source.bytes)
}

const run = async (
  words: readonly string[],
  path: string,
  signal: AbortSignal,
  onPercent?: (percent: number) => void,
): Promise<string> => {
  signal.throwIfAborted()
  const program = Bun.which('qemu-img')
  if (program === null) {
    throw new Failure('missing_program', '"qemu-img" is not installed; on Debian and Ubuntu: apt install qemu-utils.', {
      program: 'qemu-img',
    })
  }
  // What a service that is killed has begun must not go on writing behind the next one's back.
  const bound = Bun.which('setpriv') === null ? [] : ['setpriv', '--pdeathsig', 'KILL', '--']
  const child = Bun.spawn([...bound, program, ...words], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  })
  using _ending = addAbortListener(signal, () => child.kill('SIGKILL'))
  const complaint = new Response(child.stderr).text()
  let output = ''
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    if (onPercent === undefined) output += part
    const percent = [...part.matchAll(/\(([\d.]+)\/100%\)/g)].at(-1)?.[1]
    if (percent !== undefined) onPercent?.(Number(percent))
  }
  const status = await child.exited
  signal.throwIfAborted()
  if (status === 0) return output
  throw failure(path, (await complaint).trim())
}

const failure = (path: string, complaint: string): Failure => {
  const text =
    complaint
      .split('\n')
      .at(-1)
      ?.replace(/^qemu-img: /, '') || 'it was ended from outside'
  if (/Failed to get .* lock|another process using the image/.test(complaint)) {
    const next = 'End what has it open, and try again.'
    return new Failure('disk_in_use', `The disk "${path}" is open elsewhere: ${text}. ${next}`, { path })
  }
  return /No space left on device/.test(complaint)
    ? new Failure('disk_full', `There is no room left for the disk: ${text}. Make room and try again.`, { path })
    : new Failure('disk_tool_failed', `The disk "${path}" cannot be read: ${text}. Name another, or mend it.`, { path })
}
