/** Which container engine a program uses. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Variables } from '@backlot/contract/places'
import { pause } from '../../deadline.ts'
import { Engine, type EngineAddress } from './engine.ts'

/** Milliseconds that an engine has for its answer. */
const answerMs = 3_000

/** An engine that answers, or why none does. */
export type FoundEngine = { readonly engine: Engine } | { readonly reason: string; readonly remedy: string }

const remedy = 'Start Docker, let this user use its socket, or set DOCKER_HOST to the socket.'

/** Looks for the engine: `host`, else DOCKER_HOST, else docker's context, else the usual sockets of Docker and Podman. */
export const findEngine = async (host?: string, env: Variables = process.env): Promise<FoundEngine> => {
  const tried: string[] = []
  for (const place of placesOf(host, env)) {
    const address = addressOf(place)
    if (address === undefined) {
      tried.push(`"${place}" is neither unix://PATH nor tcp://127.0.0.1:PORT, whose ports this machine reaches`)
      continue
    }
    const why = await lookAt(new Engine(address))
    if (why === undefined) return { engine: new Engine(address) }
    tried.push(`"${place}" ${why}`)
  }
  return { reason: `No container engine can be used: ${tried.join('; ')}.`, remedy }
}

const placesOf = (host: string | undefined, env: Variables): string[] => {
  const said = host ?? env.DOCKER_HOST
  if (said !== undefined && said !== '') return [said]
  const context = ofContext(env)
  if (context !== undefined) return [context]
  const run = env.XDG_RUNTIME_DIR
  const sockets = ['/var/run/docker.sock', join(homedir(), '.docker/run/docker.sock')]
  if (run) sockets.push(join(run, 'docker.sock'), join(run, 'podman/podman.sock'))
  return [...sockets, '/run/podman/podman.sock'].map((path) => `unix://${path}`)
}

/** The address of docker's current context; undefined for the one that is there without any file. */
const ofContext = (env: Variables): string | undefined => {
  const folder = env.DOCKER_CONFIG || join(homedir(), '.docker')
  const read = (path: string): Record<string, unknown> => {
    if (!existsSync(path)) return {}
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    } catch {
      return {}
    }
  }
  const name = env.DOCKER_CONTEXT || read(join(folder, 'config.json')).currentContext
  if (typeof name !== 'string' || name === '' || name === 'default') return undefined
  const key = createHash('sha256').update(name).digest('hex')
  const { Endpoints } = read(join(folder, 'contexts/meta', key, 'meta.json')) as {
    Endpoints?: { docker?: { Host?: string } }
  }
  return Endpoints?.docker?.Host ?? `context ${name}`
}

const addressOf = (place: string): EngineAddress | undefined => {
  if (place.startsWith('unix:///')) return { socketPath: place.slice('unix://'.length) }
  const tcp = /^(?:tcp|http):\/\/(127\.0\.0\.1|localhost):(\d+)\/?$/.exec(place)
  return tcp === null ? undefined : { host: tcp[1] as string, port: Number(tcp[2]) }
}

/** Why an engine cannot be used; undefined where it can. */
const lookAt = async (engine: Engine): Promise<string | undefined> => {
  if ('socketPath' in engine.address && !existsSync(engine.address.socketPath)) return 'is not there'
  const ending = new AbortController()
  const late = pause(answerMs, ending.signal).then(() => ending.abort(new Error(`gives no answer in ${answerMs} ms`)))
  late.catch(() => undefined)
  try {
    const answer = await engine.open('GET', '/_ping', { signal: ending.signal })
    answer.resume()
    if (/libpod/i.test(String(answer.headers.server ?? ''))) return 'is Podman, which is planned: it was not tried yet'
    if (answer.headers.ostype !== undefined && answer.headers.ostype !== 'linux') return 'runs no Linux containers'
    return undefined
  } catch (error) {
    return `does not answer (${ending.signal.aborted ? ending.signal.reason.message : (error as Error).message})`
  } finally {
    ending.abort(new Error('over'))
  }
}
