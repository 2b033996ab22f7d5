/** The network interfaces of a guest, as its agent tells them (guest-network-get-interfaces). */
import type { NetworkInterface } from '@backlot/contract/vmhost/guest'
import { type AgentTimeouts, askAgent } from './agent.ts'

/** An interface as the agent gives it. */
interface AgentInterface {
  readonly name: string
  readonly 'hardware-address'?: string
  readonly 'ip-addresses'?: readonly {
    readonly 'ip-address': string
    readonly 'ip-address-type': 'ipv4' | 'ipv6'
    readonly prefix: number
  }[]
}

/** Asks for them. Throws `agent_unavailable`. */
export const interfacesOf = async (socket: string, patience: AgentTimeouts): Promise<NetworkInterface[]> => {
  const told = (await askAgent(socket, 'guest-network-get-interfaces', {}, patience)) as AgentInterface[]
  return told.map((each) => ({
    name: each.name,
    macAddress: each['hardware-address']?.toLowerCase() ?? null,
    addresses: (each['ip-addresses'] ?? []).map((address) => ({
      family: address['ip-address-type'],
      address: address['ip-address'],
      prefix: address.prefix,
    })),
  }))
}
