/** What a touch screen was made to send, read as the kernel reads it: events of 24 bytes, slots and tracking ids. */
import { fakeScreen } from './fake-device.ts'

/** Where the fingers that are down stand at each report, by slot, in pixels of an upright screen; the last report has none. */
export const touchesIn = (bytes: Uint8Array): Record<number, [number, number]>[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fingers = new Map<number, [number, number]>()
  const reports: Record<number, [number, number]>[] = []
  let slot = 0
  for (let at = 0; at < bytes.byteLength; at += 24) {
    const [type, code] = [view.getUint16(at + 16, true), view.getUint16(at + 18, true)]
    const value = view.getInt32(at + 20, true)
    const finger = fingers.get(slot)
    if (type === 0) reports.push(Object.fromEntries([...fingers].map(([each, [x, y]]) => [each, [x, y]])))
    else if (code === 0x2f) slot = value
    else if (code === 0x39 && value === -1) fingers.delete(slot)
    else if (code === 0x39) fingers.set(slot, [-1, -1])
    else if (code === 0x35 && finger) finger[0] = Math.round((value / 32_767) * (fakeScreen.width - 1))
    else if (code === 0x36 && finger) finger[1] = Math.round((value / 32_767) * (fakeScreen.height - 1))
  }
  return reports
}
