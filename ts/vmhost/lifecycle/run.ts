/** Starts a VM; the answer does not wait for it. */

import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { SharedDirectory } from '@backlot/contract/vmhost/vm'
import { directoryPath } from '../directory.ts'
import type { Handlers } from '../host.ts'
import { afresh, alone, findVm } from './find.ts'

/** Bytes of the longest tag that a guest can mount. */
const longestTag = 31

const stopFirst = 'Stop it first to start it anew.'

export const runVm: Handlers['runVm'] = async (input, host) => {
  const { name, storage, noDisplay = false, sharedDirectories = [], recoveryMode = false } = input
  if (recoveryMode) {
    throw new Failure('macos_only', '"recoveryMode" is for guests with macOS; leave it out.', {
      argument: 'recoveryMode',
    })
  }
  const found = await findVm(host, name, storage)
  const shared = await sharedOf(sharedDirectories)
  host.machines.refuseRunning(found, stopFirst)
  host.takeCharge()
  host.machines.announce(found)
  const { id } = host.operations.begin('run', found, async (work) => {
    try {
      await alone(host, found, async () => {
        const vm = await afresh(host, found)
        if (host.machines.get(vm.path) !== undefined) host.machines.refuseRunning(vm, stopFirst)
        work.step('starting the hypervisor')
        await host.machines.start(vm, { hasDisplay: !noDisplay, sharedDirectories: shared }, work)
      })
    } finally {
      host.machines.giveUp(found)
    }
  })
  return { message: `Virtual machine is being started: ${name}`, name, status: 'pending', operationId: id }
}

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
        {
          path: hostPath,
        },
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
