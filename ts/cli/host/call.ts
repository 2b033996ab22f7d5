/** Calls an operation for a person or a script: shows progress, waits for what takes long, cancels when interrupted. */
import { Failure } from '@backlot/contract/failure'
import type { Operation, OperationKind } from '@backlot/contract/vmhost/operation'
import { type Progress, startProgress } from '../terminal/progress.ts'
import type { OperationName } from './declared.ts'
import { prepareImage } from './image.ts'
import { type Service, Watch } from './service.ts'

type Input = Record<string, unknown>

/** What an operation that may take long is called by the service, and where the VM is found afterwards. */
interface Long {
  readonly kind: OperationKind
  readonly name: unknown
  readonly storage: unknown
  /** What is called instead: it is answered at once, however long the work takes. */
  readonly begunBy?: OperationName
}

const long: Partial<Record<OperationName, (input: Input) => Long>> = {
  createVm: ({ name, storage }) => ({ kind: 'create', name, storage }),
  runVm: ({ name, storage }) => ({ kind: 'run', name, storage }),
  pullImage: ({ image, name, storage }) => ({
    kind: 'pull',
    name: name ?? vmNameOf(String(image)),
    storage,
    begunBy: 'startPull',
  }),
  pushVm: ({ name, storage }) => ({ kind: 'push', name: String(name).replace(':', '_'), storage }),
  suspendVm: ({ name, storage }) => ({ kind: 'suspend', name, storage }),
  resumeVm: ({ name, storage }) => ({ kind: 'resume', name, storage }),
  takeSnapshot: ({ name, storage }) => ({ kind: 'snapshot', name, storage }),
  restoreSnapshot: ({ name, storage }) => ({ kind: 'restore', name, storage }),
  cloneVm: ({ newName, destLocation, sourceLocation }) => ({
    kind: 'clone',
    name: newName,
    storage: destLocation ?? sourceLocation,
  }),
  updateVm: ({ name, storage, sourceLocation }) => ({ kind: 'set', name, storage: storage ?? sourceLocation }),
}

/** What the VM of an image is called where nobody says. */
const vmNameOf = (image: string): string => {
  const [name, tag = 'latest'] = (image.split('@')[0]?.split('/').at(-1) ?? '').split(':')
  return `${name}_${tag}`
}

/** Whether the operation may take so long that it is shown, and can be detached. */
export const takesLong = (name: OperationName): boolean => long[name] !== undefined

/**
 * Does an operation. What takes long gives the record of the VM as it is afterwards, or with `isDetached` the answer
 * of the service at once.
 */
export const callOperation = async (
  service: Service,
  name: OperationName,
  input: Input,
  isDetached = false,
): Promise<unknown> => {
  const found = long[name]?.(input)
  const call = service.client[found?.begunBy ?? name] as (input: Input) => Promise<unknown>
  if (found === undefined) return call(input)
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  using progress = startProgress()
  try {
    if (name === 'createVm') await prepareImage(input, { service, progress, signal: interrupted.signal })
    if (isDetached) return await call(input)
    let id: string | undefined
    await using watch = await Watch.open(service, (operation) => {
      if (operation.name !== found.name || operation.kind !== found.kind) return
      if (operation.state === 'running') id = operation.id
      showOperation(progress, operation)
    })
    const cancel = () => void (id !== undefined && service.client.cancelOperation({ id }).catch(() => undefined))
    interrupted.signal.addEventListener('abort', cancel)
    const answer = (await call(input)) as { operationId?: string }
    id = answer.operationId ?? id
    if (interrupted.signal.aborted) cancel()
    if (answer.operationId !== undefined) await watch.finished(answer.operationId)
    return await service.client.getVm({
      name: String(found.name),
      ...(found.storage !== undefined && { storage: String(found.storage) }),
    })
  } catch (error) {
    if (interrupted.signal.aborted) throw new Failure('cancelled', 'It was interrupted; what was half made is removed.')
    throw error
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt)
  }
}

const showOperation = (progress: Progress, { kind, name, state, step, progress: bytes }: Operation): void => {
  if (state !== 'running') return
  const percent = bytes?.totalBytes ? (100 * bytes.doneBytes) / bytes.totalBytes : undefined
  progress.show(`${name}: ${step ?? kind}`, percent)
}
