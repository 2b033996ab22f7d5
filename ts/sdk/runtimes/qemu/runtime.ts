/** The runtime `qemu`: VMs on this machine without a service that somebody has to start. */
import type { CallOptions, Fields } from '../../basics.ts'
import { withDeadline } from '../../deadline.ts'
import { node } from '../../node.ts'
import type { RuntimeCheck } from '../features.ts'
import type { HeldSandbox } from '../runtime.ts'
import { VmRuntime } from '../vmhost/vm-runtime.ts'
import type { Vms } from '../vmhost/vms.ts'

/** What instructions of guests run on; what works here where absent. */
interface QemuOptions {
  readonly accel?: 'kvm' | 'hvf' | 'whpx' | 'tcg'
}

/** VMs of a host that this user's programs share. */
export class QemuRuntime extends VmRuntime {
  readonly name = 'qemu'

  constructor(readonly options: QemuOptions = {}) {
    super()
  }

  override settings(): Fields {
    return this.options.accel === undefined ? {} : { accel: this.options.accel }
  }

  override async check(_options: CallOptions = {}): Promise<RuntimeCheck> {
    const { missingRequirement } = await node('The runtime "qemu"', () => import('./check.ts'))
    const missing = await missingRequirement(this.options.accel)
    return missing === undefined ? { available: true, features: this.features } : { available: false, ...missing }
  }

  /** None, without starting the host, where it has never made any. */
  override async list(options: CallOptions = {}): Promise<readonly HeldSandbox[]> {
    return (await this.#service()).hasVms ? super.list(options) : []
  }

  /** Where it has never made any, there is nothing to end. */
  override async stop(name: string, options: CallOptions = {}): Promise<void> {
    if ((await this.#service()).hasVms) await super.stop(name, options)
  }

  protected override async vms(options: CallOptions): Promise<Vms> {
    const { Vms } = await node('The runtime "qemu"', () => import('../vmhost/vms.ts'))
    const service = await this.#service()
    const host = await withDeadline(
      { ...options, timeoutMs: Number.POSITIVE_INFINITY },
      'The start of the VM host',
      (signal) => service.host(signal),
    )
    return new Vms(this.name, host)
  }

  async #service() {
    const { QemuService } = await node('The runtime "qemu"', () => import('./service.ts'))
    return new QemuService(this.options.accel)
  }
}
