/** Contents of files within a script: base64, compressed where that is shorter. */
import { toBase64 } from '../base64.ts'
import { UnsupportedError } from '../errors.ts'
import { builtin, type LocalEntry, localBytes, localEntries } from './local-files.ts'

/** Bytes that one `copy` may put into a script; user data of that length is taken by few already. */
const mostBytes = 64 * 1024 * 1024

/** What a script makes of an entry; `target` is where. */
export type ScriptEntry = { readonly path: string; readonly target: string } & (
  | { readonly type: 'file'; readonly mode: number; readonly text: string; readonly isCompressed: boolean }
  | Extract<LocalEntry, { type: 'folder' | 'link' }>
)

/**
 * What a script has to make for a copy of `src` to `dst`, in order; a `dst` that ends with `/` is the folder for a file.
 * Throws `unsupported` where that is too much for a script.
 */
export const scriptEntries = (src: string, dst: string, separator: '/' | '\\'): ScriptEntry[] => {
  const entries = localEntries(src)
  const bytes = entries.reduce((sum, each) => sum + (each.type === 'file' ? each.sizeBytes : 0), 0)
  if (bytes > mostBytes) {
    throw new UnsupportedError(
      `"${src}" holds ${bytes} bytes, more than the ${mostBytes} that a build by user data may copy. Upload it once the sandbox runs: sandbox.files.upload.`,
      { data: { path: src, bytes, mostBytes } },
    )
  }
  const isInto = /[\\/]$/.test(dst)
  const top = dst.replace(/(?<=.)[\\/]+$/, '')
  return entries.map((entry) => {
    const isNamedFile = entry.path === '' && entry.type !== 'folder'
    const below = isNamedFile && isInto ? builtin('path').basename(src) : entry.path
    const target = below === '' ? top : `${top === '/' ? '' : top}${separator}${below.replaceAll('/', separator)}`
    return entry.type === 'file'
      ? { ...contents(entry.localPath), type: 'file', path: entry.path, mode: entry.mode, target }
      : { ...entry, target }
  })
}

const contents = (path: string): { text: string; isCompressed: boolean } => {
  const bytes = localBytes(path)
  const compressed = builtin('zlib').gzipSync(bytes, { level: 9 })
  const isCompressed = compressed.length < bytes.length
  return { text: toBase64(isCompressed ? compressed : bytes), isCompressed }
}
