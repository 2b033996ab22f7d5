/** The computer's files. */
import type { Bytes, CallOptions, Content } from '../basics.ts'
import { withDeadline } from '../deadline.ts'
import { BacklotError, invalidArgument } from '../errors.ts'
import { node } from '../node.ts'
import type { Transport } from '../transports/transport.ts'
import { bodyOf } from './content.ts'
import { type FileEvent, FileStreams, type ReadOptions, watchPath } from './file-streams.ts'
import { routesFor } from './need-routes.ts'

/** What is at a path; `modifiedAt` is ISO 8601 in UTC. */
export type FileInfo = { readonly name: string; readonly path: string; readonly modifiedAt: string } & (
  | { readonly type: 'file'; readonly sizeBytes: number }
  | { readonly type: 'directory' }
  | { readonly type: 'symlink'; readonly target: string }
)

/** How a file is written. */
export interface WriteOptions extends CallOptions {
  /** Whether to go on at the end of what is there, rather than replace it. @default false */
  append?: boolean
  /** Permission bits, such as 0o644. @default those of the file that is there, else the computer's own */
  mode?: number
}

/** The computer's files, of any size; `~` is the home folder, and what is not there throws `file_not_found`. */
export interface Files {
  /** The text of a file, UTF-8. */
  readText(path: string, options?: CallOptions): Promise<string>
  /** The bytes of a file, or of a part of it. */
  readBytes(path: string, options?: ReadOptions): Promise<Bytes>
  /** The bytes of a file as they arrive. */
  readStream(path: string, options?: CallOptions): Promise<ReadableStream<Bytes>>
  /** Writes a file, and makes the folders that it needs; what is there is replaced, or with `append` continued. */
  write(path: string, content: Content, options?: WriteOptions): Promise<void>
  /** What a folder holds, by name. */
  list(path: string, options?: CallOptions): Promise<FileInfo[]>
  /** What is at a path. */
  stat(path: string, options?: CallOptions): Promise<FileInfo>
  /** Whether anything is at a path. */
  exists(path: string, options?: CallOptions): Promise<boolean>
  /** Makes a folder and those above it. */
  makeDir(path: string, options?: CallOptions): Promise<void>
  /** Moves or renames a file or folder. */
  move(from: string, to: string, options?: CallOptions): Promise<void>
  /** Removes a file, or with `recursive` (false) a folder. */
  remove(path: string, options?: CallOptions & { recursive?: boolean }): Promise<void>
  /** Copies a file or folder of the caller's in. */
  upload(localPath: string, path: string, options?: CallOptions): Promise<void>
  /** Copies a file or folder out to the caller. */
  download(path: string, localPath: string, options?: CallOptions): Promise<void>
  /** What changes at a path, until the loop is left. */
  watch(path: string, options?: { signal?: AbortSignal; recursive?: boolean }): AsyncIterable<FileEvent>
}

/** The files behind a transport. */
export const filesOf = (transport: Transport): Files => {
  const streams = (what: string) => new FileStreams(routesFor(transport, what))
  return {
    async readText(path, options) {
      return new TextDecoder().decode(await streams('Reading a file').whole(path, options))
    },
    readBytes: (path, options) => streams('Reading a file').whole(path, options),
    readStream: (path, options) => streams('Reading a file').open('/files', path, options),
    async write(path, content, options = {}) {
      const { append, mode } = options
      await streams('Writing a file').write('/files', path, bodyOf(content), options, {
        parents: true,
        ...(append && { append }),
        ...(mode !== undefined && { mode: octal(mode) }),
      })
    },
    async list(path, options) {
      const [{ entries }, folder] = [
        await transport.send('list_dir', { path }, options),
        (await transport.send('stat', { path }, options)).path,
      ]
      return entries.map((entry) => infoOf({ ...entry, path: `${folder === '/' ? '' : folder}/${entry.name}` }))
    },
    stat: async (path, options) => infoOf(await transport.send('stat', { path }, options)),
    async exists(path, options) {
      try {
        await transport.send('stat', { path }, options)
        return true
      } catch (error) {
        if (BacklotError.is(error) && error.code === 'file_not_found') return false
        throw error
      }
    },
    async makeDir(path, options) {
      await transport.send('create_dir', { path }, options)
    },
    async move(from, to, options) {
      await transport.send('move_path', { from, to }, options)
    },
    async remove(path, options) {
      await transport.send('remove_path', { path, recursive: options?.recursive ?? false }, options)
    },
    ...copyingOf(transport),
    watch: (path, options) => watchPath(routesFor(transport, 'Watching a path'), path, options),
  }
}

/** Copying between the computer and the caller. */
const copyingOf = (transport: Transport): Pick<Files, 'upload' | 'download'> => {
  const streams = (what: string) => new FileStreams(routesFor(transport, what))
  const isFolder = async (path: string, options: CallOptions) =>
    (await transport.send('directory_exists', { path }, options)).exists
  return {
    async upload(localPath, path, options) {
      const { openLocal } = await node('Copying a file in', () => import('../local/copy.ts'))
      const { body, isFolder, mode, check } = await openLocal(localPath)
      const [route, more] = isFolder ? ['/files/tar', {}] : ['/files', { parents: true, mode: octal(mode) }]
      try {
        await streams('Copying a file in').write(route, path, body, options, more)
      } catch (error) {
        check()
        throw error
      }
    },
    async download(path, localPath, options) {
      const { saveFile, saveFolder } = await node('Copying a file out', () => import('../local/copy.ts'))
      await withDeadline(options, `Copying "${path}" out`, async (signal) => {
        const limits = { signal, timeoutMs: Number.POSITIVE_INFINITY }
        const [route, save] = (await isFolder(path, limits)) ? ['/files/tar', saveFolder] : ['/files', saveFile]
        await save(localPath, await streams('Copying a file out').open(route, path, limits), signal)
      })
    },
  }
}

const octal = (mode: number): string => {
  if (Number.isInteger(mode) && mode >= 0 && mode <= 0o7777) return mode.toString(8).padStart(3, '0')
  throw invalidArgument('mode', `"mode" is ${mode}; it takes permission bits, such as 0o644.`)
}

/** What a server tells of a path. */
interface SentInfo {
  readonly name: string
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink'
  readonly size: number
  readonly modified_at: string
  readonly target?: string
}

const infoOf = ({ name, path, type, size, modified_at, target = '' }: SentInfo): FileInfo => {
  const common = { name, path, modifiedAt: modified_at }
  if (type === 'file') return { ...common, type, sizeBytes: size }
  return type === 'symlink' ? { ...common, type, target } : { ...common, type }
}
