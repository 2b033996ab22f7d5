/** What changes at a path and below it, as server-sent events. */
import { lstatSync, watch } from 'node:fs'
import { join } from 'node:path'
import { eventStream } from '@backlot/serve'

/** Milliseconds after an event in which the watcher leaves out another of the same path. */
const leftOutMs = 100

/**
 * An event `change` or `rename` (made, removed or renamed) for each, with the path and what is so of it now: `created`, `changed`
 * or `removed`. An event `error` ends the stream.
 */
export const watchPath = (path: string, request: Request): Response =>
  eventStream(request, (_, sink) => {
    const recursive = new URL(request.url).searchParams.get('recursive') !== 'false'
    /** What is looked at again, by path. */
    const again = new Map<string, Timer>()
    const isThere = (named: string) => lstatSync(named, { throwIfNoEntry: false }) !== undefined
    const tell = (type: string, named: string, was: boolean) => {
      sink.send({
        type,
        data: { type, path: named, what: !was ? 'removed' : type === 'rename' ? 'created' : 'changed' },
      })
      clearTimeout(again.get(named))
      const look = () => {
        again.delete(named)
        const is = isThere(named)
        if (is !== was) tell('rename', named, is)
      }
      again.set(named, setTimeout(look, leftOutMs))
    }
    const watcher = watch(path, { recursive, persistent: false }, (type, name) => {
      const named = name === null ? path : join(path, String(name))
      tell(type, named, isThere(named))
    })
    watcher.on('error', (error) => {
      sink.send({ type: 'error', data: { type: 'error', path, message: error.message } })
      sink.end()
    })
    return () => {
      watcher.close()
      for (const timer of again.values()) clearTimeout(timer)
    }
  })
