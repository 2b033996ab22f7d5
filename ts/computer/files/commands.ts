/** The commands on files. */
import { lstat, mkdir, open, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { longestFileAnswerBytes } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../backend.ts'
import { onPath } from './failure.ts'
import { resolvePath } from './path.ts'
import { infoOf, move } from './path-info.ts'
import { appendFile, replaceFile } from './write.ts'

type OnPath = { readonly path: string }

/** Does work on the path of a call. */
const at = <T>({ path }: OnPath, work: (path: string) => Promise<T>): Promise<T> => onPath(resolvePath(path), work)

const isFile = (path: string) => stat(path).then((found) => !found.isDirectory(), absent)
const isFolder = (path: string) => stat(path).then((found) => found.isDirectory(), absent)

/** A path that is not there is no failure of who asks whether it is. */
const absent = (error: NodeJS.ErrnoException): false => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false
  throw error
}

export const fileHandlers = {
  file_exists: async (params) => ({ exists: await at(params, isFile) }),
  directory_exists: async (params) => ({ exists: await at(params, isFolder) }),
  list_dir: (params) =>
    at(params, async (folder) => {
      const found = await readdir(folder, { withFileTypes: true })
      const read = await Promise.all(
        found.map(async (entry) => {
          const followed = await stat(join(folder, entry.name)).catch(() => undefined)
          const own = await infoOf(join(folder, entry.name)).catch(absent)
          if (own === false) return []
          const { type, modified_at, target } = own
          const kind = { type, modified_at, ...(target !== undefined && { target }) }
          return { name: entry.name, is_dir: followed?.isDirectory() ?? false, size: followed?.size ?? 0, ...kind }
        }),
      )
      const entries = read.flat()
      entries.sort((one, other) => (one.name < other.name ? -1 : 1))
      return { files: entries.map(({ name }) => name), entries }
    }),
  stat: (params) => at(params, infoOf),
  async move_path({ from, to }) {
    const target = resolvePath(to)
    await onPath(resolvePath(from), (path) => move(path, target))
    return {}
  },
  async remove_path({ path, recursive = false }) {
    await onPath(resolvePath(path), async (found) => {
      if (found === '/') throw new Failure('file_refused', '"/" is not deleted.', { path: found })
      const isDirectory = (await lstat(found)).isDirectory()
      if (!isDirectory) await unlink(found)
      else if (recursive) await rm(found, { recursive: true })
      else await rmdir(found)
    })
    return {}
  },
  read_text: async (params) => ({ content: (await read(params, 0, undefined)).toString('utf8') }),
  async read_bytes({ path, offset = 0, length }) {
    const content_b64 = (await read({ path }, offset, length)).toString('base64')
    return { content_b64, content: content_b64 }
  },
  async write_text({ path, content, append = false }, { signal }) {
    await put(path, Buffer.from(content), append, signal)
    return {}
  },
  async write_bytes({ path, content_b64, append = false }, { signal }) {
    await put(path, bytesOf(content_b64), append, signal)
    return {}
  },
  get_file_size: async (params) => ({ size: await at(params, async (path) => (await stat(path)).size) }),
  async delete_file(params) {
    await at(params, unlink)
    return {}
  },
  async create_dir(params) {
    await at(params, (path) => mkdir(path, { recursive: true }))
    return {}
  },
  async delete_dir({ path }) {
    await onPath(resolvePath(path), async (folder) => {
      if (folder === '/') throw new Failure('file_refused', '"/" is not deleted.', { path: folder })
      // Says what is no folder, and what may not be removed, before anything is gone.
      if (!(await stat(folder)).isDirectory()) {
        throw new Failure('invalid_argument', `"${folder}" is no folder; delete_file deletes files.`, { path: folder })
      }
      await rmdir(folder).catch(() => rm(folder, { recursive: true }))
    })
    return {}
  },
} satisfies Handlers

const put = (path: string, bytes: Uint8Array, append: boolean, signal: AbortSignal): Promise<number> =>
  onPath(resolvePath(path), async (file) => {
    if (!(await isFolder(dirname(file)))) {
      throw new Failure('file_not_found', `There is no folder "${dirname(file)}"; create_dir makes it.`, { path: file })
    }
    return append ? appendFile(file, [bytes], signal) : replaceFile(file, [bytes], signal)
  })

const bytesOf = (text: string): Buffer => {
  if (!/^[A-Za-z0-9+/_-]*={0,2}\s*$/.test(text)) {
    throw new Failure('invalid_argument', '"content_b64" is no base64.', { argument: 'content_b64' })
  }
  return Buffer.from(text, 'base64')
}

/** Reads a part of a file, up to its end where no length is given. Files of `/proc` say that they are empty and are not. */
const read = (params: OnPath, offset: number, length: number | undefined): Promise<Buffer> =>
  at(params, async (path) => {
    await using file = await open(path, 'r')
    const found = await file.stat()
    if (found.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR', syscall: 'read' })
    const left = found.isFile() && found.size > 0 ? Math.max(0, found.size - offset) : longestFileAnswerBytes
    const wanted = Math.min(length ?? left, left)
    if (wanted > longestFileAnswerBytes) {
      throw new Failure(
        'file_too_large',
        `"${path}" has ${wanted} bytes there, more than the ${longestFileAnswerBytes} of one answer; read it in parts, or with GET /files.`,
        { path, size: found.size },
      )
    }
    const parts: Buffer[] = []
    for (let got = 0; got < wanted; ) {
      const part = Buffer.alloc(Math.min(wanted - got, 1 << 20))
      const { bytesRead } = await file.read(part, 0, part.byteLength, found.isFile() ? offset + got : null)
      if (bytesRead === 0) break
      parts.push(part.subarray(0, bytesRead))
      got += bytesRead
    }
    return Buffer.concat(parts)
  })
