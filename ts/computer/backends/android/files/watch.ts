/** What changes in a folder of a device, as server-sent events, by the device's own `inotifyd`. */
import { posix } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { type EventSink, eventStream } from '@backlot/serve'
import type { Connection } from '../adb/connection.ts'
import { quoted } from '../adb/quote.ts'
import { nextPacket, packet } from '../adb/shell-packets.ts'
import { isFolder } from '../adb/sync.ts'
import type { AndroidDevice } from '../device.ts'
import { statOf } from './commands.ts'

/** The letters of `inotifyd` for what is told; the first is there twice, since it of toybox 0.8 leaves one out. */
const letters = 'nndmyceDM'

/** What is written once it watches. */
const readyMark = '\x01'

/** Looks, in steps of 50 ms, after which it is taken to watch where the system does not tell. */
const mostLooks = 100

/**
 * An event `change` or `rename` for each, as on desktops, with what is so of it then: `created`, `changed` or `removed`. An event
 * `error` ends the stream. Throws failures of the path, and `not_available` for what is below folders.
 */
export const watchDevicePath = async (device: AndroidDevice, path: string, request: Request): Promise<Response> => {
  if (new URL(request.url).searchParams.get('recursive') !== 'false') {
    const text = 'An Android device tells of one folder, and not of those below; watch each, with "recursive=false".'
    throw new Failure('not_available', text, { argument: 'recursive' })
  }
  // A file is told of by its folder: editors put another in its place.
  const folder = isFolder(await statOf(device, path, true)) ? path : posix.dirname(path)
  const only = folder === path ? undefined : posix.basename(path)
  const connection = await device.adb.open(`shell,v2,TERM=dumb,pty:${lineFor(folder)}`)
  let rest: Buffer
  try {
    rest = await untilReady(connection, folder)
  } catch (error) {
    connection[Symbol.dispose]()
    throw error
  }
  return eventStream(request, (_, sink) => {
    tellAll(device, connection, rest, { folder, only, sink }).catch((error: unknown) => {
      const { message } = Failure.from(error)
      sink.send({ type: 'error', data: { type: 'error', path, message } })
      sink.end()
    })
    // adb's daemon hangs up on what it has started.
    return () => connection[Symbol.dispose]()
  })
}

/**
 * On a pseudo-terminal each line comes at once. A folder is named by its path, so that its end is seen; one whose name would end
 * before its end, at a colon, is entered instead, and its end not seen.
 */
const lineFor = (folder: string): string => {
  const isOdd = /[:\s]/.test(folder)
  return [
    `stty -opost 2>/dev/null; cd ${isOdd ? quoted(folder) : '/'} || exit`,
    `inotifyd - ${isOdd ? '.' : quoted(folder)}:${letters} & looks=0`,
    `until grep -qs ^inotify /proc/$!/fdinfo/* || [ $looks = ${mostLooks} ]; do`,
    '  kill -0 $! || exit; looks=$((looks + 1)); sleep 0.05',
    'done',
    "printf '\\001'; wait $!",
  ].join('\n')
}

/** Reads to the mark, and gives what follows it. Throws `device_failed` with what was said instead. */
const untilReady = async (connection: Connection, folder: string): Promise<Buffer> => {
  let said = Buffer.alloc(0)
  for (;;) {
    const { id, bytes } = await nextPacket(connection)
    if (id === packet.exit) {
      const why = said.toString().trim().slice(0, 300) || 'inotifyd ended'
      throw new Failure('device_failed', `"${folder}" is not watched: ${why}.`, { path: folder })
    }
    said = Buffer.concat([said, bytes])
    const at = said.indexOf(readyMark)
    if (at >= 0) return said.subarray(at + 1)
  }
}

interface Watched {
  readonly folder: string
  /** The name that alone is told of. */
  readonly only: string | undefined
  readonly sink: EventSink
}

/** Tells of each line that comes. Throws when nothing comes any more. */
const tellAll = async (device: AndroidDevice, connection: Connection, first: Buffer, watched: Watched) => {
  let rest = first
  for (;;) {
    const at = rest.lastIndexOf('\n')
    const lines = rest
      .subarray(0, at + 1)
      .toString()
      .split(/\r?\n/)
      .slice(0, -1)
    rest = rest.subarray(at + 1)
    // A file that is written piece by piece changes many times at once.
    for (const [index, line] of lines.entries()) {
      if (line !== lines[index - 1]) await tell(device, line, watched)
    }
    const { id, bytes } = await nextPacket(connection)
    if (id === packet.exit) throw new Failure('device_failed', 'The folder is gone, or the device ended its watcher.')
    rest = Buffer.concat([rest, bytes])
  }
}

/** Tells of one: letters, the folder, and the name of what is in it. */
const tell = async (device: AndroidDevice, line: string, { folder, only, sink }: Watched): Promise<void> => {
  const [, said = '', name] = /^(\S+)\t[^\t]+(?:\t(.*))?$/s.exec(line) ?? []
  if (said === '' || (only !== undefined && name !== only)) return
  const named = name === undefined ? folder : posix.join(folder, name)
  const type = /[nmdyDM]/.test(said) ? 'rename' : 'change'
  const isThere = await device.files.stat(named, false).then(
    () => true,
    () => false,
  )
  const what = !isThere ? 'removed' : type === 'rename' ? 'created' : 'changed'
  sink.send({ type, data: { type, path: named, what } })
}
