/** What takes longer than a request: VMs of the cloud that start, stop and become reachable. */
import type { CloudVm } from '@backlot/contract/cloud'
import type { CallOptions } from '../basics.ts'
import { BacklotError, ConflictError, ConnectionError } from '../errors.ts'
import type { Image } from '../image/image.ts'
import type { Resources } from '../runtimes/features.ts'
import { HTTPTransport } from '../transports/http.ts'
import type { CloudAccess } from './access.ts'
import { type CloudClient, poll } from './client.ts'
import { isReady, serverOf, statusOf } from './vm.ts'

/** Milliseconds that a VM may take to start or to stop. */
export const usualVmMs = 120_000

/** Asks for a VM. */
export const requestVm = (
  client: CloudClient,
  { name, image, region, cpu, memoryMb, diskGb }: Resources & { name: string; image: Image; region: string },
  options: CallOptions,
): Promise<CloudVm> => {
  const isSized = cpu !== undefined || memoryMb !== undefined || diskGb !== undefined
  return client.createVm(
    {
      name,
      os: image.osType,
      region,
      image: image.toDict(),
      ...(isSized ? {} : { configuration: 'small' }),
      ...(cpu !== undefined && { cpu }),
      ...(memoryMb !== undefined && { memoryMb }),
      ...(diskGb !== undefined && { diskGb }),
    },
    options,
  )
}

/** Waits until a VM that starts can be used, and connects to it; throws `not_ready`. */
export const openServer = (
  client: CloudClient,
  access: CloudAccess,
  name: string,
  options: CallOptions,
): Promise<HTTPTransport> =>
  poll(options, usualVmMs, `The start of the sandbox "${name}"`, async (signal) => {
    const vm = await client.getVm({ name }, { signal })
    const status = statusOf(vm)
    if (status === 'stopped') throw notRunning(name, vm.status)
    const url = isReady(vm) ? serverOf(vm, access.baseUrl) : undefined
    if (url === undefined) return undefined
    const transport = new HTTPTransport(url, { apiKey: access.apiKey, containerName: name })
    try {
      await transport.connect({ signal })
      return transport
    } catch (error) {
      await transport.disconnect().catch(() => undefined)
      // The VM runs before the server in it does.
      if (error instanceof ConnectionError) return undefined
      throw error
    }
  })

/** Stops a VM and waits until it has. */
export const stopVm = async (client: CloudClient, name: string, options: CallOptions): Promise<void> => {
  await client.stopVm({ name }, options)
  await poll(options, usualVmMs, `The stop of the sandbox "${name}"`, async (signal) => {
    const status = statusOf(await client.getVm({ name }, { signal }))
    return status === 'suspended' || status === 'stopped' ? true : undefined
  })
}

/** Deletes a VM; one that is gone already is fine where `mayBeGone`. */
export const deleteVm = async (
  client: CloudClient,
  name: string,
  mayBeGone: boolean,
  options: CallOptions,
): Promise<void> => {
  try {
    await client.deleteVm({ name }, options)
  } catch (error) {
    if (!(mayBeGone && BacklotError.is(error) && error.code === 'sandbox_not_found')) throw error
  }
}

export const notRunning = (name: string, status: string): ConflictError => {
  const text = `The sandbox "${name}" is not running: the cloud says that it is "${status}". Continue it with \`Sandbox.resume\`.`
  return new ConflictError('sandbox_not_running', text, { data: { name, status } })
}
