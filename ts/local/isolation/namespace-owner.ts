/** Who owns a namespace, which only a system call tells. */
import { dlopen, FFIType } from 'bun:ffi'
import { closeSync, openSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'

/** `NS_GET_USERNS` of ioctl_ns(2): a descriptor of the user namespace that owns a namespace. */
const nsGetUserns = 0xb701

/**
 * A descriptor of the user namespace that owns a process's network, for the caller to close: bwrap puts its programs into
 * another one below it, so that they cannot change that network. Throws `sandbox_not_started`.
 */
export const ownerOfNetwork = (pid: number): number => {
  const library = dlopen('libc.so.6', {
    ioctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 },
  })
  try {
    const network = openSync(`/proc/${pid}/ns/net`, 'r')
    try {
      const owner = library.symbols.ioctl(network, nsGetUserns)
      if (owner >= 0) return owner
      throw new Failure('sandbox_not_started', 'The kernel does not say who owns the network of the sandbox.')
    } finally {
      closeSync(network)
    }
  } finally {
    library.close()
  }
}
