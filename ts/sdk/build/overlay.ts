/** Disks that show another's content until they are written to. */
import { ConflictError, InvalidArgumentError, NotFoundError, UnsupportedError } from '../errors.ts'
import { localFailure } from '../local/failure.ts'
import { node } from '../node.ts'

/** Makes a qcow2 overlay over a backing file and gives its path; throws `file_not_found` or `file_exists`. */
export const createOverlay = (backing: string, overlay: string): Promise<string> =>
  node('Making a disk', async () => {
    const [core, { resolve, dirname }, { mkdir }] = await Promise.all([
      loadCore(),
      import('node:path'),
      import('node:fs/promises'),
    ])
    try {
      const { disk } = await core.diskInfo(backing)
      await mkdir(dirname(resolve(overlay)), { recursive: true })
      // The name is written into the overlay, where a relative one would mean the overlay's folder.
      await core.createOverlay(overlay, { backing: resolve(backing), backing_format: disk.format })
    } catch (error) {
      throw ofCore(error, overlay)
    }
    return overlay
  })

const loadCore = async () => {
  try {
    return await import('@backlot/native')
  } catch (cause) {
    throw new UnsupportedError(
      'Making a disk needs the package "@backlot/native" with the part for this platform. Install it: npm install @backlot/native',
      { cause },
    )
  }
}

/** A failure of the native core or of the system in our words; the core's messages name the file and the next step. */
const ofCore = (error: unknown, overlay: string): unknown => {
  const { code = '', message } = error as { code?: string; message: string }
  const details = { data: { coreCode: code }, cause: error }
  switch (code) {
    case 'disk_not_found':
      return new NotFoundError('file_not_found', message, details)
    case 'disk_exists':
      return new ConflictError('file_exists', message, details)
    case 'disk_unreadable':
    case 'disk_not_written':
      return new ConflictError('permission_denied', message, details)
    case 'disk_corrupt':
    case 'disk_unsupported':
    case 'invalid_argument':
      return new InvalidArgumentError('invalid_argument', message, details)
    default:
      return localFailure(error, overlay)
  }
}
