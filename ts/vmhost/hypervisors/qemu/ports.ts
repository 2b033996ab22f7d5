/** The loopback address of a VM, and the ports on it that lead into the guest. */
import { createServer } from 'node:net'
import { Failure } from '@backlot/contract/failure'
import type { Forward } from '@backlot/contract/vmhost/vm'

/** Addresses that are tried before giving up. */
const attempts = 16
/** Below it only root may listen, unless the host is set up otherwise. */
const firstFreePort = 1024

/** Where the ports of a guest can be reached. */
export interface GuestAddress {
  readonly address: string
  readonly forwards: readonly Forward[]
}

/**
 * Finds an address in 127.77.0.0/16 on which the guest's ports keep their numbers; those that only root may open there
 * get others when they must. Begins at the same one for the same VM; `skip` addresses are left out. On a host that has
 * no such addresses it is 127.0.0.1 and free ports. Throws `port_in_use`.
 */
export const reachable = async (uuid: string, ports: readonly number[], skip: number): Promise<GuestAddress> => {
  for (let attempt = skip; attempt < skip + attempts; attempt++) {
    const found = await forwardsOn(addressOf(uuid, attempt), ports)
    if (found !== undefined) return found
  }
  const found = await forwardsOn('127.0.0.1', ports, true)
  if (found !== undefined) return found
  throw new Failure(
    'port_in_use',
    `No address of this machine has the ports ${ports.join(', ')} free for the guest; end what listens there.`,
    { ports },
  )
}

const addressOf = (uuid: string, attempt: number): string => {
  const hash = Number(Bun.hash.crc32(`${uuid}/${attempt}`))
  return `127.77.${hash & 0xff}.${1 + ((hash >>> 8) % 254)}`
}

const forwardsOn = async (
  address: string,
  ports: readonly number[],
  anyPort = false,
): Promise<GuestAddress | undefined> => {
  const forwards: Forward[] = []
  for (const guestPort of ports) {
    const port =
      (anyPort ? undefined : await bindable(address, guestPort)) ??
      (anyPort || guestPort < firstFreePort ? await bindable(address, 0) : undefined)
    if (port === undefined) return undefined
    forwards.push({ guestPort, address, port })
  }
  return { address, forwards }
}

/** The port if nobody listens there; for 0 one that is free. */
const bindable = (address: string, port: number): Promise<number | undefined> =>
  new Promise((settle) => {
    const server = createServer()
    server.once('error', () => settle(undefined))
    server.listen({ host: address, port, exclusive: true }, () => {
      const bound = server.address()
      server.close(() => settle(typeof bound === 'object' && bound !== null ? bound.port : undefined))
    })
  })
