/** Which templates VMs are being made of: none of them is removed as an old one. */
import type { VmPlace } from '../vms/vm-store.ts'

/** The templates that VMs are being made of in this service. */
export class TemplatesInUse {
  readonly #users = new Map<string, number>()

  /** Keeps a template from being removed until it is disposed of. */
  use({ path }: VmPlace): Disposable {
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1)
    return {
      [Symbol.dispose]: () => {
        const left = (this.#users.get(path) ?? 1) - 1
        if (left > 0) this.#users.set(path, left)
        else this.#users.delete(path)
      },
    }
  }

  has({ path }: VmPlace): boolean {
    return this.#users.has(path)
  }
}
