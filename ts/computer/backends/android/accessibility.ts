/** The accessibility tree of a device, by `uiautomator`. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../backend.ts'
import { type Element, findIn } from '../elements.ts'
import { quoted } from './adb/quote.ts'
import type { AndroidDevice } from './device.ts'
import { screenSize } from './screen.ts'
import { elementsIn } from './ui-tree.ts'

export const accessibilityHandlers = (device: AndroidDevice) => {
  const readTree = async (signal: AbortSignal): Promise<Element> => {
    const file = quoted(`/data/local/tmp/backlot-${crypto.randomUUID()}.xml`)
    // uiautomator says on standard output that it failed, and ends with 0.
    const line = `uiautomator dump ${file} >&2 && cat ${file}; s=$?; rm -f ${file}; (exit $s)`
    const { stdout, stderr, status } = await device.line(line, { signal })
    if (status !== 0 || stdout === '') {
      const why = stderr.trim() || `status ${status}`
      throw new Failure('device_failed', `uiautomator reads no tree: ${why}. A screen that never rests has none.`)
    }
    const children = elementsIn(stdout)
    const { width, height } = await screenSize(device, signal)
    const place = { position: { x: 0, y: 0 }, size: { width, height }, bounds: { x: 0, y: 0, width, height } }
    return { role: 'screen', title: 'Screen', value: null, enabled: true, actions: [], ...place, children }
  }
  return {
    get_accessibility_tree: async (_, { signal }) => ({ tree: await readTree(signal), truncated: false }),
    find_element: (wanted, { signal }) => findIn(() => readTree(signal), wanted),
  } satisfies Handlers
}
