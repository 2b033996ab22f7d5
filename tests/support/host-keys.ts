/** The keys by which a guest's SSH server is known. */
import type { Vm } from '@backlot/contract/vmhost/vm'
import { until } from './until.ts'

/** Where a port of a guest is reached. */
export const forwardOf = (vm: Vm, port: number) => {
  const found = vm.forwards.find(({ guestPort }) => guestPort === port)
  if (found === undefined) throw new Error(`port ${port} of "${vm.name}" is reached nowhere`)
  return found
}

/** The host keys that an SSH client is shown; a server makes a key when it is asked for first, which takes long for other types. */
export const hostKeys = (vm: Vm) =>
  until(`the host keys of "${vm.name}"`, async () => {
    const { address, port } = forwardOf(vm, 22)
    const scan = Bun.spawn(['ssh-keyscan', '-T', '10', '-t', 'ed25519', '-p', String(port), address], {
      stderr: 'ignore',
    })
    const keys = (await scan.stdout.text()).split('\n').flatMap((line) => line.split(' ')[2] ?? [])
    return keys.length > 0 && keys
  })
