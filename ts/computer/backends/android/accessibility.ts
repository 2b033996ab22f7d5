/** The accessibility tree of a device, by `uiautomator`. */
import type { CommandResult } from '@backlot/contract/computer'
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../../backend.ts'
import { quoted } from './adb/quote.ts'
import type { AndroidDevice } from './device.ts'
import { screenSize } from './screen.ts'
import { elementsIn } from './ui-tree.ts'

type Element = CommandResult<'find_element'>['element']

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
    async find_element(wanted, { signal }) {
      if (Object.keys(wanted).length === 0) {
        throw new Failure('missing_argument', '"find_element" needs "role", "title" or "value".', { argument: 'role' })
      }
      const found = [...all(await readTree(signal))].filter((element) => matches(element, wanted))
      const [element] = found
      if (element !== undefined) return { element: { ...element, children: [] }, count: found.length }
      const shown = Object.entries(wanted).map(([field, text]) => `${field} "${text}"`)
      throw new Failure('element_not_found', `No element on the screen has ${shown.join(' and ')}.`, wanted)
    },
  } satisfies Handlers
}

function* all(element: Element): Generator<Element> {
  yield element
  for (const child of element.children as Element[]) yield* all(child)
}

const matches = (element: Element, wanted: { role?: string; title?: string; value?: string }): boolean =>
  has(element.role, wanted.role) && has(element.title, wanted.title) && has(element.value ?? '', wanted.value)

const has = (text: string, part: string | undefined): boolean =>
  part === undefined || text.toLowerCase().includes(part.toLowerCase())
