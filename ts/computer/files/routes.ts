/** The routes of files, which stream: `/files`, `/files/tar` and `/files/watch`. */
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { BoundServer } from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import { answerFile } from '../http/file.ts'
import { onPath } from './failure.ts'
import { modeIn } from './mode.ts'
import { resolvePath } from './path.ts'
import { packFolder, unpackInto } from './tar.ts'
import { watchPath } from './watch.ts'
import { appendFile, replaceFile } from './write.ts'

/** Adds the routes. What is written may be sent by POST too: runtimes repeat a lost PUT by themselves, as HTTP allows. */
export const fileRoutes = (app: AnyElysia, _server: BoundServer): AnyElysia =>
  app
    .get('/files', async ({ request }) => {
      const file = pathIn(request)
      const found = await onPath(file, (path) => stat(path))
      if (!found.isFile()) {
        throw new Failure('invalid_argument', `"${file}" is no file; GET /files/tar packs a folder.`, { path: file })
      }
      return answerFile(file, request, { size: found.size })
    })
    .put('/files', ({ request }) => writeFile(request))
    .post('/files', ({ request }) => writeFile(request))
    .get('/files/tar', async ({ request }) => {
      const folder = pathIn(request)
      if (!(await onPath(folder, (path) => stat(path))).isDirectory()) {
        throw new Failure('invalid_argument', `"${folder}" is no folder; GET /files gives a file.`, { path: folder })
      }
      return packFolder(folder, request.signal)
    })
    .put('/files/tar', ({ request }) => writeFolder(request))
    .post('/files/tar', ({ request }) => writeFolder(request))
    .get('/files/watch', async ({ request }) => {
      const path = pathIn(request)
      await onPath(path, (watched) => stat(watched))
      return watchPath(path, request)
    })

const writeFile = async (request: Request): Promise<{ path: string; size: number }> => {
  const file = pathIn(request)
  const { searchParams } = new URL(request.url)
  const mode = modeIn(searchParams.get('mode'))
  if (searchParams.get('parents') === 'true') {
    await onPath(dirname(file), (path) => mkdir(path, { recursive: true }))
  }
  const write = searchParams.get('append') === 'true' ? appendFile : replaceFile
  const size = await onPath(file, (path) => write(path, request.body ?? [], request.signal, mode))
  return { path: file, size }
}

const writeFolder = async (request: Request): Promise<{ path: string }> => {
  const folder = pathIn(request)
  await onPath(folder, (path) => mkdir(path, { recursive: true }))
  await unpackInto(folder, request)
  return { path: folder }
}

/** The path in the query of a request. Throws `missing_argument`. */
const pathIn = (request: Request): string => {
  const path = new URL(request.url).searchParams.get('path') ?? ''
  if (path === '') throw new Failure('missing_argument', '"path" is missing in the query.', { argument: 'path' })
  return resolvePath(path)
}
