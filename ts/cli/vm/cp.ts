/** `backlot vm cp`: files and folders into a guest and out of it. */
import { mkdir, stat } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Failure } from '@backlot/contract/failure'
import { failureOf } from '@backlot/contract/system-failure'
import { shellText } from '@backlot/contract/text/shell-text'
import { writeWhole } from '@backlot/native/durable'
import { extract } from 'tar'
import type { ExtraCommand } from '../host/group.ts'
import { readFromGuest, type VmReference, writeToGuest } from '../host/guest-stream.ts'
import type { Service } from '../host/service.ts'
import { placed, where } from './where.ts'

const form = 'cp SOURCE TARGET [--storage LOCATION|PATH]'

/** A path of a guest. */
interface Inside {
  readonly vm: VmReference
  readonly path: string
}

type Kind = 'file' | 'folder' | 'none'

export const cp: ExtraCommand = {
  form,
  summary:
    'Copy a file or a folder into a guest or out of it; one of the two is `NAME:/PATH`. What goes to a folder that is there goes into it.',
  options: where,
  async run({ service, positionals, values }) {
    const [source = '', target = '', more] = positionals
    const [from, to] = [source, target].map((text) => insideOf(text, values))
    if (target === '' || more !== undefined || (from === undefined) === (to === undefined)) {
      throw new Failure('usage', `Call it as \`backlot vm ${form}\`, where one of the two is \`NAME:/PATH\`.`)
    }
    if (to !== undefined) await bring(service, source, to)
    if (from !== undefined) await fetchFrom(service, from, target)
    return 0
  },
}

/** What `NAME:/PATH` means; undefined for a path of this machine. Throws `usage`. */
const insideOf = (text: string, values: Parameters<typeof placed>[1]): Inside | undefined => {
  const [, name, path = ''] = /^([A-Za-z0-9][\w.-]*):(.*)$/s.exec(text) ?? []
  if (name === undefined) return undefined
  if (!path.startsWith('/')) throw new Failure('usage', `"${text}" names no absolute path; write \`${name}:/PATH\`.`)
  return { vm: placed(name, values), path }
}

/** What is at a path of the guest, and the permission bits of a file. */
const lookInside = async ({ client }: Service, { vm, path }: Inside): Promise<{ kind: Kind; mode: number }> => {
  const word = shellText(path)
  const ofFile = `echo file $(stat -L -c %a ${word})`
  const command = `if [ -d ${word} ]; then echo folder; elif [ -e ${word} ]; then ${ofFile}; else echo none; fi`
  const [kind, bits = '644'] = (await client.execInVm({ ...vm, command })).stdout.trim().split(' ')
  return { kind: kind as Kind, mode: Number.parseInt(bits, 8) & 0o777 }
}

const kindHere = async (path: string): Promise<Kind> =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'folder' : 'file'),
    () => 'none',
  )

/** What a copy in a folder is called; that of what has no name of its own fills the folder, and leads to none above it. */
const nameOf = (path: string): string => {
  const name = basename(path)
  return name === '..' ? '.' : name
}

const bring = async (service: Service, source: string, target: Inside): Promise<void> => {
  const about = await stat(source).catch((error: unknown) => {
    const { code } = error as { code?: unknown }
    if (code !== 'ENOENT') throw failureOf(error)
    throw new Failure('file_not_found', `There is no file "${source}" to copy.`, { path: source })
  })
  const isInto = (await lookInside(service, target)).kind === 'folder'
  const path = isInto ? posix.join(target.path, nameOf(source)) : target.path
  const to = { ...target.vm, path, isFolder: about.isDirectory() }
  if (!to.isFolder) return writeToGuest(service, to, Bun.file(source), about.mode & 0o777)
  const packing = Bun.spawn(['tar', '-C', source, '-cf', '-', '.'], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  await writeToGuest(service, to, packing.stdout)
  await finished(packing, source)
}

const fetchFrom = async (service: Service, source: Inside, target: string): Promise<void> => {
  const { kind, mode } = await lookInside(service, source)
  const isInto = (await kindHere(target)) === 'folder'
  const path = isInto ? join(target, nameOf(source.path)) : target
  const { body } = await readFromGuest(service, { ...source.vm, path: source.path, isFolder: kind === 'folder' })
  if (kind === 'folder') {
    await unpack(path, body)
    return
  }
  await writeWhole(path, body ?? '', mode).catch((error) => {
    throw failureOf(error)
  })
}

/**
 * Unpacks what a guest sent: nothing in it leads out of the folder, belongs to somebody else or runs as somebody else, and a
 * device is refused.
 */
const unpack = async (folder: string, archive: ReadableStream<Uint8Array> | null): Promise<void> => {
  try {
    await mkdir(folder, { recursive: true })
    const into = extract({
      ...{ cwd: folder, strict: true, preserveOwner: false },
      filter: (_path, entry) => {
        if (entry.mode !== undefined) entry.mode &= 0o777
        return true
      },
    })
    await pipeline(Readable.fromWeb(archive as never), into as unknown as NodeJS.WritableStream)
  } catch (error) {
    throw failureOf(error)
  }
}

const finished = async (child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>, path: string) => {
  const [said, status] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (status === 0) return
  throw new Failure('file_refused', `"${path}" was not copied whole: ${said.trim().split('\n').at(-1)}.`, { path })
}
