/** Files and folders of the caller's, to be sent and as they arrive. */
import { createReadStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { localFailure } from './failure.ts'
import { writeWhole } from './write.ts'

/** What is sent of a path. */
export interface Upload {
  readonly isFolder: boolean
  /** Permission bits of a file. */
  readonly mode: number
  /** The file, or the folder as a tar archive whose paths begin at it. */
  readonly body: ReadableStream<Uint8Array>
  /** Throws what kept the path from being read to its end. */
  check(): void
}

/** Opens a file or folder of the caller's. Throws `file_not_found`, `permission_denied` and the like. */
export const openLocal = async (path: string): Promise<Upload> => {
  try {
    const found = await stat(path)
    const isFolder = found.isDirectory()
    const source = isFolder ? await packed(path) : createReadStream(path)
    let failure: unknown
    finished(source).catch((error: unknown) => {
      failure = localFailure(error, path)
    })
    return {
      isFolder,
      mode: found.mode & 0o777,
      body: Readable.toWeb(source) as unknown as ReadableStream<Uint8Array>,
      check() {
        // One whose request was given up is closed early, which is no failure of the path.
        const { code } = (failure ?? {}) as { code?: string }
        if (failure !== undefined && code !== 'ERR_STREAM_PREMATURE_CLOSE' && code !== 'ABORT_ERR') throw failure
      },
    }
  } catch (error) {
    throw localFailure(error, path)
  }
}

const packed = async (folder: string): Promise<Readable> => {
  const { create } = await import('tar')
  // It is a stream of its own kind, which the system's can be made of.
  return Readable.from(create({ cwd: folder, portable: true, strict: true }, ['.']) as AsyncIterable<Buffer>, {
    objectMode: false,
  })
}

/** Writes a file of the caller's, whole or not at all. */
export const saveFile = async (
  path: string,
  pieces: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await writeWhole(path, pieces as unknown as AsyncIterable<Uint8Array>, signal)
  } catch (error) {
    throw localFailure(error, path)
  }
}

/** Unpacks an archive into a folder of the caller's, which nothing in it leads out of; what is there and not in it stays. */
export const saveFolder = async (
  folder: string,
  archive: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await mkdir(folder, { recursive: true })
    const { extract } = await import('tar')
    // What others packed runs as nobody else here.
    const into = extract({
      ...{ cwd: folder, strict: true, preserveOwner: false },
      filter: (_path, entry) => {
        if (entry.mode !== undefined) entry.mode &= 0o777
        return true
      },
    })
    await pipeline(Readable.fromWeb(archive as never), into as unknown as NodeJS.WritableStream, { signal })
  } catch (error) {
    throw localFailure(error, folder)
  }
}
