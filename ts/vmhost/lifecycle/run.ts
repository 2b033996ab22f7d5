/** Starts a VM; the answer does not wait for it. */

import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { SharedDirectory } from '@backlot/contract/vmhost/vm'
import type { Handlers, Host } from '../host/host.ts'
import { pullAndRun } from '../images/pull-vm.ts'
import { directoryPath } from '../storage/directory.ts'
import { creationOf, findVm } from './find.ts'
import { beginRun, stopFirstHint } from './start.ts'

/** Bytes of the longest tag that a guest can mount. */
const longestTag = 31

export const runVm: Handlers['runVm'] = async (input, host) => {
  const { storage, noDisplay = false, sharedDirectories = [], recoveryMode = false, discardMemory = false } = input
  if (recoveryMode) {
    throw new Failure('macos_only', '"recoveryMode" is for guests with macOS; leave it out.', {
      argument: 'recoveryMode',
    })
  }
  const name = input.name.replace(':', '_')
  const shared = await sharedOf(sharedDirectories)
  if (input.name.includes(':') && (await isNone(host, name, storage))) {
    return pullAndRun(host, input.name, name, storage, { hasDisplay: !noDisplay, sharedDirectories: shared })
  }
  const found = await findVm(host, name, storage)
  await host.lockHome().catch((error) => {
    // That it runs says more than who looks after it.
    host.machines.refuseRunning(found, stopFirstHint)
    throw error
  })
  host.machines.refuseRunning(found, stopFirstHint)
  host.machines.announce(found)
  const { id } = beginRun(host, found, { hasDisplay: !noDisplay, sharedDirectories: shared }, discardMemory)
  return { message: `Virtual machine is being started: ${name}`, name, status: 'pending', operationId: id }
}

const isNone = async (host: Host, name: string, storage: string | undefined): Promise<boolean> =>
  (await creationOf(host, name, storage)) === undefined && (await host.store.look(name, storage)) === undefined

const sharedOf = async (
  wanted: readonly { hostPath: string; tag?: string; readOnly?: boolean }[],
): Promise<SharedDirectory[]> => {
  const shared: SharedDirectory[] = []
  for (const { hostPath: named, tag, readOnly = false } of wanted) {
    const hostPath = directoryPath(named)
    const isFolder = await stat(hostPath).then(
      (found) => found.isDirectory(),
      () => false,
    )
    if (!isFolder) {
      throw new Failure(
        'invalid_directory',
        `The folder "${hostPath}" cannot be shared: there is none. Make it first.`,
        { path: hostPath },
      )
    }
    const taken = shared.map((each) => each.tag)
    if (tag !== undefined && taken.includes(tag)) {
      throw new Failure('invalid_argument', `Two shared directories have the tag "${tag}"; give each its own.`, {
        argument: 'sharedDirectories',
      })
    }
    shared.push({ hostPath, tag: tag ?? freeTag(hostPath, taken), readOnly })
  }
  return shared
}

/** A tag after the folder's name, with a number where that is taken. */
const freeTag = (path: string, taken: readonly string[]): string => {
  const plain =
    basename(path)
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '') || 'share'
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? '' : `-${count}`
    const tag = `${plain.slice(0, longestTag - suffix.length)}${suffix}`
    if (!taken.includes(tag)) return tag
  }
}
