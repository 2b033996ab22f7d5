/** The commands on files of a device: what they hold by adb's sync service, names by the device's own programs. */
import { posix } from 'node:path'
import { longestFileAnswerBytes } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../../backend.ts'
import { fileFailure } from '../../../files/failure.ts'
import { commandOf, quoted } from '../adb/quote.ts'
import { type FileStat, isFolder, isLink, isPlain } from '../adb/sync.ts'
import type { AndroidDevice } from '../device.ts'
import { resolveDevicePath } from '../paths.ts'

/** What programs of a device say when the system refuses (strerror(3)), by the system's name for it. */
const said: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Not a directory': 'ENOTDIR',
  'Is a directory': 'EISDIR',
  'File exists': 'EEXIST',
  'Directory not empty': 'ENOTEMPTY',
  'File name too long': 'ENAMETOOLONG',
  'Permission denied': 'EACCES',
  'Operation not permitted': 'EPERM',
  'Read-only file system': 'EROFS',
  'No space left on device': 'ENOSPC',
}

/** Runs a program on a path of the device. Throws a failure that names the path. */
export const runOnPath = async (
  device: AndroidDevice,
  path: string,
  line: string,
  signal?: AbortSignal,
): Promise<string> => {
  const { stdout, stderr, status } = await device.line(line, signal === undefined ? {} : { signal })
  if (status === 0) return stdout
  const code = Object.entries(said).find(([text]) => stderr.includes(text))?.[1] ?? 'EIO'
  throw fileFailure(Object.assign(new Error(stderr.trim().slice(0, 300)), { code, syscall: 'open' }), path)
}

/** What is at a path of the device. Throws a failure that names the path. */
export const statOf = async (device: AndroidDevice, path: string, follow = false): Promise<FileStat> => {
  try {
    return await device.files.stat(path, follow)
  } catch (error) {
    throw fileFailure(error, path)
  }
}

/**
 * Puts the pieces into the place of a file, whole or not at all, or adds them to it. Gives the bytes written. They are written
 * beside it first, then renamed.
 */
export const putFile = async (
  device: AndroidDevice,
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { append = false, mode }: { readonly append?: boolean; readonly mode?: number | undefined } = {},
): Promise<number> => {
  const folder = posix.dirname(path)
  const there = await device.files.stat(folder, true).catch(() => undefined)
  if (there === undefined || !isFolder(there)) {
    throw new Failure('file_not_found', `There is no folder "${folder}" on the device; create_dir makes it.`, { path })
  }
  const before = await device.files.stat(path, true).catch(() => undefined)
  if (before !== undefined && isFolder(before)) {
    throw fileFailure(Object.assign(new Error('it is a folder'), { code: 'EISDIR', syscall: 'open' }), path)
  }
  const next = posix.join(folder, `.${posix.basename(path).slice(0, 100)}.${crypto.randomUUID()}.tmp`)
  const [from, to] = [quoted(next), quoted(path)]
  try {
    const kept = before !== undefined && isPlain(before) ? before.mode & 0o7777 : 0o644
    const bits = mode ?? kept
    const written = await device.files.write(next, bits, pieces)
    // A link is followed, as on a desktop.
    const put = append
      ? `cat ${from} >> ${to} && rm ${from}`
      : // adbd gives everybody what it gives the owner.
        `chmod ${bits.toString(8)} ${from} && sync ${from} && mv -f ${from} "$(readlink -f ${to} || echo ${to})"`
    await runOnPath(device, path, put)
    return written
  } catch (error) {
    await device.line(`rm -f ${from}`).catch(() => undefined)
    throw error
  }
}

const typeOf = (found: FileStat): 'file' | 'directory' | 'symlink' =>
  isFolder(found) ? 'directory' : isLink(found) ? 'symlink' : 'file'

/** What is at a path. */
const lookingHandlers = (device: AndroidDevice) => {
  const infoOf = async (path: string, found: FileStat) => {
    const target = isLink(found)
      ? { target: (await runOnPath(device, path, `readlink ${quoted(path)}`)).replace(/\n$/, '') }
      : {}
    return { type: typeOf(found), modified_at: found.modifiedAt.toISOString(), ...target }
  }
  const isThere = async (given: string, asks: (found: FileStat) => boolean): Promise<{ exists: boolean }> => {
    try {
      return { exists: asks(await device.files.stat(resolveDevicePath(given), true)) }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return { exists: false }
      throw fileFailure(error, given)
    }
  }
  return {
    file_exists: ({ path }) => isThere(path, (found) => !isFolder(found)),
    directory_exists: ({ path }) => isThere(path, isFolder),
    async list_dir({ path: given }) {
      const path = resolveDevicePath(given)
      if (!isFolder(await statOf(device, path, true))) {
        throw fileFailure(Object.assign(new Error('it is a file'), { code: 'ENOTDIR', syscall: 'scandir' }), path)
      }
      const found = await device.files.list(path)
      found.sort((one, other) => (one.name < other.name ? -1 : 1))
      const entries = []
      for (const { name, ...own } of found) {
        const full = posix.join(path, name)
        const followed = isLink(own) ? await device.files.stat(full, true).catch(() => undefined) : own
        const is_dir = followed !== undefined && isFolder(followed)
        entries.push({ name, is_dir, size: followed?.size ?? 0, ...(await infoOf(full, own)) })
      }
      return { files: entries.map(({ name }) => name), entries }
    },
    async stat({ path: given }) {
      const path = resolveDevicePath(given)
      const found = await statOf(device, path)
      return { name: posix.basename(path), path, size: found.size, ...(await infoOf(path, found)) }
    },
    get_file_size: async ({ path }) => ({ size: (await statOf(device, resolveDevicePath(path), true)).size }),
  } satisfies Partial<Handlers>
}

/** What a file holds. */
const readingHandlers = (device: AndroidDevice) => {
  const read = async (given: string, offset = 0, length?: number): Promise<Buffer> => {
    const path = resolveDevicePath(given)
    const found = await statOf(device, path, true)
    if (isFolder(found))
      throw fileFailure(Object.assign(new Error('it is a folder'), { code: 'EISDIR', syscall: 'read' }), path)
    const left = found.size > 0 ? Math.max(0, found.size - offset) : longestFileAnswerBytes
    const wanted = Math.min(length ?? left, left)
    if (wanted > longestFileAnswerBytes) {
      const text = `"${path}" has ${wanted} bytes there, more than the ${longestFileAnswerBytes} of one answer; read it in parts, or with GET /files.`
      throw new Failure('file_too_large', text, { path, size: found.size })
    }
    const parts: Buffer[] = []
    let at = 0
    for await (const bytes of device.files.read(path)) {
      if (at + bytes.byteLength > offset) parts.push(bytes.subarray(Math.max(0, offset - at)))
      at += bytes.byteLength
      if (at >= offset + wanted) break
    }
    return Buffer.concat(parts).subarray(0, wanted)
  }
  return {
    read_text: async ({ path }) => ({ content: (await read(path)).toString('utf8') }),
    async read_bytes({ path, offset, length }) {
      const content_b64 = (await read(path, offset, length)).toString('base64')
      return { content_b64, content: content_b64 }
    },
  } satisfies Partial<Handlers>
}

/** What changes files and folders. */
const changingHandlers = (device: AndroidDevice) => {
  const change = async (given: string, words: readonly string[]) => {
    const path = resolveDevicePath(given)
    if (path === '/') throw new Failure('file_refused', '"/" is not deleted.', { path })
    await runOnPath(device, path, commandOf([...words, path]))
    return {}
  }
  return {
    async move_path({ from, to }) {
      const [source, target] = [resolveDevicePath(from), resolveDevicePath(to)]
      await statOf(device, source)
      const there = await device.files.stat(target, true).catch(() => undefined)
      if (there !== undefined && isFolder(there)) {
        throw new Failure('file_exists', `"${target}" cannot be used: something is there already.`, { path: target })
      }
      await runOnPath(device, source, `mv -f ${quoted(source)} ${quoted(target)}`)
      return {}
    },
    async remove_path({ path, recursive = false }) {
      const found = await statOf(device, resolveDevicePath(path))
      return change(path, isFolder(found) ? (recursive ? ['rm', '-r'] : ['rmdir']) : ['rm'])
    },
    async write_text({ path, content, append = false }) {
      await putFile(device, resolveDevicePath(path), [Buffer.from(content)], { append })
      return {}
    },
    async write_bytes({ path, content_b64, append = false }) {
      if (!/^[A-Za-z0-9+/_-]*={0,2}\s*$/.test(content_b64)) {
        throw new Failure('invalid_argument', '"content_b64" is no base64.', { argument: 'content_b64' })
      }
      await putFile(device, resolveDevicePath(path), [Buffer.from(content_b64, 'base64')], { append })
      return {}
    },
    delete_file: ({ path }) => change(path, ['rm']),
    create_dir: ({ path }) => change(path, ['mkdir', '-p']),
    async delete_dir({ path: given }) {
      const path = resolveDevicePath(given)
      if (!isFolder(await statOf(device, path, true))) {
        throw new Failure('invalid_argument', `"${path}" is no folder; delete_file deletes files.`, { path })
      }
      return change(given, ['rm', '-r'])
    },
  } satisfies Partial<Handlers>
}

export const fileHandlers = (device: AndroidDevice) =>
  ({ ...lookingHandlers(device), ...readingHandlers(device), ...changingHandlers(device) }) satisfies Handlers
