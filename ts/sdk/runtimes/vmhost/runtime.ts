/** The runtime `vmhost`: VMs of the service that `backlot serve` is. */
import type { CallOptions, Fields } from '../../basics.ts'
import { withDeadline } from '../../deadline.ts'
import { node } from '../../node.ts'
import type { RuntimeCheck } from '../features.ts'
import { VmRuntime } from './vm-runtime.ts'
import type { Vms } from './vms.ts'

/** Milliseconds that the service may take to say that it is there. */
const answerMs = 3_000

/** Where the service is, and its token; the environment says what is absent. */
interface VmHostOptions {
  readonly url?: string
  readonly token?: string
}

/** VMs of a service. */
export class VmHostRuntime extends VmRuntime {
  readonly name = 'vmhost'

  constructor(readonly options: VmHostOptions = {}) {
    super()
  }

  override settings(): Fields {
    return this.options.url === undefined ? {} : { url: this.options.url }
  }

  override async check(options: CallOptions = {}): Promise<RuntimeCheck> {
    const { addressOf, isHere } = await this.#address()
    const address = addressOf(this.options)
    const unavailable = (reason: string, remedy: string): RuntimeCheck => ({ available: false, reason, remedy })
    if (!isHere(address.url)) {
      return unavailable(
        `The ports of its VMs are on the loopback of "${address.shown}", which this machine does not reach.`,
        'Run this program there, or connect to a computer server by its address.',
      )
    }
    try {
      const { host } = await this.vms(options)
      await withDeadline(
        { ...options, timeoutMs: Math.min(options.timeoutMs ?? answerMs, answerMs) },
        'The VM host',
        (signal) => host.ask(signal, (client) => client.listVms()),
      )
    } catch (error) {
      options.signal?.throwIfAborted()
      return unavailable((error as Error).message, 'Or use the runtime "qemu", which needs no service.')
    }
    return { available: true, features: this.features }
  }

  protected override async vms(_options: CallOptions): Promise<Vms> {
    const { addressOf } = await this.#address()
    const { VmHost, Vms } = await node('The runtime "vmhost"', async () => ({
      ...(await import('./host.ts')),
      ...(await import('./vms.ts')),
    }))
    return new Vms(this.name, new VmHost(addressOf(this.options)))
  }

  #address() {
    return node('The runtime "vmhost"', () => import('./address.ts'))
  }
}
