/** A VM that boots from an image, and what is built in it then. */
import { buildImage } from '../../build/build-image.ts'
import { BacklotError } from '../../errors.ts'
import { stepsOf } from '../../image/dict.ts'
import { Image } from '../../image/image.ts'
import type { SandboxOptions } from '../../sandbox/options.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { newKey, serverScript } from './guest.ts'
import { infoOf, transportTo, whenReady } from './guest-server.ts'
import type { VmHost } from './host.ts'
import { type HostImage, pulled } from './sources.ts'

/** Whether the guest is given our computer server: it runs Linux, and nobody says that it has another. */
const isOurs = (image: Image): boolean => image.osType === 'linux' && image.toDict().agent_type === undefined

/** What a VM of an image is, its name and its key aside. */
export const vmOf = (image: Image, { image: reference, diskGb }: HostImage, options: SandboxOptions) => ({
  ...{ os: 'linux' as const, image: reference, display: '1280x800', network: 'nat' as const },
  cpu: options.cpu ?? 2,
  memory: `${options.memoryMb ?? (image.osType === 'windows' ? 4_096 : 2_048)}MB`,
  diskSize: `${options.diskGb ?? diskGb}GB`,
})

/** Makes a VM, starts it, and carries out the image's layers in it once its server answers. */
export const boot = async (
  host: VmHost,
  image: Image,
  from: HostImage,
  name: string,
  options: SandboxOptions,
  signal: AbortSignal,
): Promise<RuntimeInfo> => {
  const key = newKey()
  const input = {
    ...{ ...vmOf(image, from, options), name },
    ...(isOurs(image) && { userData: serverScript(key, image.toDict().env ?? {}), executable: true }),
  }
  const create = () => host.ask(signal, (client) => client.createVm(input))
  try {
    await create()
  } catch (error) {
    if (!BacklotError.is(error) || error.code !== 'image_not_found' || image.distro !== 'registry') throw error
    await pulled(host, from.image, name, options, signal)
    await create()
  }
  options.onProgress?.({ phase: 'boot', message: 'The VM starts.', percent: null })
  const { operationId } = await host.ask(signal, (client) => client.runVm({ name }))
  await host.done(operationId, signal)
  const info = infoOf(await host.ask(signal, (client) => client.getVm({ name })), key)
  // The server has the variables from its start, and the layers have them from it.
  const layers = isOurs(image) ? withoutVariables(image) : image
  if (stepsOf(layers.toDict()).length === 0) return info
  await whenReady(host, info, signal)
  const onLayer = (at: Parameters<NonNullable<Parameters<typeof buildImage>[2]>['onLayer'] & {}>[0]) =>
    options.onProgress?.({ phase: 'layer', ...at })
  await buildImage(transportTo(info), layers, { signal, onLayer })
  return info
}

/** What is left to carry out where the server has the variables already. */
const withoutVariables = (image: Image): Image => {
  const { env: _, steps, ...rest } = image.toDict()
  const others = steps?.filter(({ type }) => type !== 'env')
  return Image.fromDict({ ...rest, ...(others && { steps: others }) })
}
