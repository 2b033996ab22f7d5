/** Images with layers: built in a container of their own, and kept by the hash of what was built. */
import { randomBytes } from 'node:crypto'
import { commandOf } from '../../build/commands.ts'
import { layerTimeoutMs, runStep } from '../../build/run-step.ts'
import { pause, withDeadline } from '../../deadline.ts'
import { ConnectionError } from '../../errors.ts'
import { layerHashes } from '../../image/hash.ts'
import type { Image } from '../../image/image.ts'
import { isLayer } from '../../image/layers.ts'
import { pythonFolder } from '../../image/shell.ts'
import { shellOf } from '../../interfaces/shell.ts'
import type { SandboxOptions } from '../../sandbox/options.ts'
import { HTTPTransport } from '../../transports/http.ts'
import { hostConfig, infoOf, inspect, keyPath, removeContainer, startContainer } from './containers.ts'
import type { Engine } from './engine.ts'
import { imageId } from './images.ts'
import { label, ownLabels } from './labels.ts'

/** Milliseconds that the computer server of a build may take to answer, and between two questions. */
const serverMs = 60_000
const askEveryMs = 100

interface ImageConfig {
  readonly Env?: readonly string[] | null
  readonly User?: string
}

/** The id of the image with its layers; built where the engine has none of their hash, from the longest part that it has. */
export const withLayers = async (
  engine: Engine,
  image: Image,
  base: string,
  options: SandboxOptions,
): Promise<string> => {
  const steps = await layerHashes(image, base)
  let done = steps.length
  let from: string | undefined
  for (; done > 0; done--) {
    from = await imageId(engine, tagOf(steps[done - 1]?.hash), options.signal)
    if (from !== undefined) break
  }
  if (done === steps.length) return from ?? base
  const { Config } = await engine.call<{ Config: ImageConfig }>('GET', `/images/${base}/json`, {
    signal: options.signal,
  })
  const key = randomBytes(32).toString('base64url')
  const container = await startContainer(engine, {
    container: `backlot-build-${randomBytes(8).toString('hex')}`,
    image: from ?? base,
    labels: { ...(await ownLabels()), [label.build]: 'yes' },
    host: hostConfig({}),
    key,
    uid: 0,
    config: {
      User: '0',
      WorkingDir: '/',
      Entrypoint: ['backlot', 'computer', '--host', '0.0.0.0', '--port', '8000', '--name', 'localhost'],
      Cmd: ['--key-file', `/${keyPath}`],
      Healthcheck: { Test: ['NONE'] },
    },
    signal: options.signal,
  })
  try {
    const transport = new HTTPTransport(await serverOf(engine, container.Id, options), { apiKey: key })
    const count = image.toDict().layers.length
    let index = steps.slice(0, done).filter(({ step }) => isLayer(step)).length
    for (const { step } of steps.slice(done)) {
      if (isLayer(step)) options.onProgress?.({ phase: 'layer', index, count, layer: step })
      const signal = options.signal === undefined ? {} : { signal: options.signal }
      await runStep(transport, 'linux', step, { timeoutMs: layerTimeoutMs, ...signal, index })
      if (isLayer(step)) index += 1
    }
    await shellOf(transport).run(commandOf(`rm -f /${keyPath}`, 'linux'), { check: true })
    return await commit(engine, container.Id, tagOf(steps.at(-1)?.hash), withVariables(Config, image), options.signal)
  } finally {
    await removeContainer(engine, container.Id)
  }
}

const tagOf = (hash = ''): string => `backlot-layers:${hash.slice(0, 32)}`

/** The first program, user and folder of the base, and the variables of the image beside its own. */
const withVariables = (config: ImageConfig, image: Image): object => {
  const { env = {}, layers } = image.toDict()
  const variables = new Map((config.Env ?? []).map((each) => splitAt(each)))
  if (layers.some(({ type }) => type === 'uv_install')) {
    const usual = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    variables.set('PATH', `${pythonFolder}/bin:${variables.get('PATH') ?? usual}`)
  }
  for (const [name, value] of Object.entries(env)) variables.set(name, value)
  const { User } = config
  return {
    WorkingDir: '/',
    Healthcheck: null,
    ...config,
    User: User || '0',
    Env: [...variables].map(([name, value]) => `${name}=${value}`),
  }
}

const splitAt = (text: string): [string, string] => {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Keeps a container's files as an image of that name; gives its id. */
export const commit = async (
  engine: Engine,
  container: string,
  tag: string,
  config: object,
  signal?: AbortSignal,
): Promise<string> => {
  const [repo, name] = tag.split(':')
  const query = { container, repo, tag: name, pause: true }
  return (await engine.call<{ Id: string }>('POST', '/commit', { query, body: config, signal })).Id
}

/** The address of the computer server of a container, once it answers. */
const serverOf = async (engine: Engine, id: string, { signal }: SandboxOptions): Promise<string> => {
  const limits = { timeoutMs: serverMs, ...(signal !== undefined && { signal }) }
  return withDeadline(limits, 'The start of the computer server', async (ending) => {
    for (;;) {
      const container = await inspect(engine, id, ending)
      if (container.State.Status !== 'running') {
        const text = `The container for the layers ended with ${container.State.ExitCode}. Its image needs the program "backlot"; docker/desktop has it.`
        throw new ConnectionError('unreachable', text)
      }
      const url = `http://127.0.0.1:${infoOf(container, '').apiPort}`
      const answer = await fetch(`${url}/status`, { signal: ending }).catch(() => undefined)
      if (answer?.ok) return url
      await pause(askEveryMs, ending)
    }
  })
}
