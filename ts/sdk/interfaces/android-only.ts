/** Whether a computer is an Android device. */
import type { CallOptions } from '../basics.ts'
import { UnsupportedError } from '../errors.ts'
import type { Transport } from '../transports/transport.ts'

/**
 * What throws `unsupported` where a computer is no Android device; where that is not known, its server is asked once.
 */
export const androidOnly = (
  transport: Transport,
  name: string,
  known: boolean | undefined,
): ((options?: CallOptions) => Promise<void>) => {
  let isAndroid = known
  return async (options) => {
    isAndroid ??= (await transport.send('get_environment', {}, options)).environment === 'android'
    if (isAndroid) return
    throw new UnsupportedError(
      `"${name}" is no Android device, which \`mobile\` is for. Use \`mouse\` and \`keyboard\`.`,
      { data: { sandbox: name } },
    )
  }
}
