/** The screen of a device: its picture, its size, its coordinates. */
import { addAbortListener } from 'node:events'
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../backend.ts'
import type { AdbDevice } from './adb/server.ts'
import { nextPacket, packet } from './adb/shell-packets.ts'
import type { AndroidDevice } from './device.ts'

/** Pixels of a screenshot are those of the screen. */
const same = async ({ x, y }: { x: number; y: number }) => ({ coordinates: [x, y] })

/** Quality where a caller names none. */
const usualQuality = 95

/** Milliseconds after which a device that gives no picture counts as hanging. */
const mostMs = 60_000

/** What a program of the device writes, byte for byte. Throws `device_failed`. */
export const bytesOf = async (adb: AdbDevice, command: string, signal?: AbortSignal): Promise<Buffer> => {
  using connection = await adb.open(`shell,v2,raw:${command}`)
  const limit = AbortSignal.any([AbortSignal.timeout(mostMs), ...(signal === undefined ? [] : [signal])])
  using _closing = addAbortListener(limit, () => connection[Symbol.dispose]())
  const parts: Buffer[] = []
  const said: Buffer[] = []
  try {
    for (;;) {
      const { id, bytes } = await nextPacket(connection)
      if (id === packet.stdout) parts.push(bytes)
      else if (id === packet.stderr) said.push(bytes)
      else if (id === packet.exit) {
        if (bytes[0] === 0) return Buffer.concat(parts)
        const why = Buffer.concat(said).toString().trim()
        throw new Failure('device_failed', `"${command}" ended with ${bytes[0]} on the device: ${why}`)
      }
    }
  } catch (error) {
    signal?.throwIfAborted()
    if (limit.aborted) throw new Failure('device_failed', `${adb.name} has not ended "${command}" in ${mostMs} ms.`)
    throw error
  }
}

/** The size of the screen as it is turned now, off the head of its raw picture: width and height in four bytes each. */
export const screenSize = async (
  device: AndroidDevice,
  signal?: AbortSignal,
): Promise<{ width: number; height: number }> => {
  const head = await bytesOf(device.adb, 'screencap | head -c 8', signal)
  if (head.byteLength < 8) throw new Failure('device_failed', 'The device gives no picture of its screen.')
  return { width: head.readUInt32LE(0), height: head.readUInt32LE(4) }
}

export const screenHandlers = (device: AndroidDevice) =>
  ({
    async screenshot({ format = 'png', quality = usualQuality }, { signal }) {
      const png = await bytesOf(device.adb, 'screencap -p', signal)
      const { width, height } = await new Bun.Image(png).metadata().catch((error: Error) => {
        throw new Failure('device_failed', `The device gives no picture of its screen: ${error.message}`)
      })
      if (format === 'png') return { image_data: png.toString('base64'), format: 'png', width, height }
      const jpeg = await new Bun.Image(png).jpeg({ quality }).buffer()
      return { image_data: Buffer.from(jpeg).toString('base64'), format: 'jpeg', width, height }
    },
    get_screen_size: async (_, { signal }) => ({ size: await screenSize(device, signal) }),
    to_screen_coordinates: same,
    to_screenshot_coordinates: same,
  }) satisfies Handlers
