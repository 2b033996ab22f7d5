/** What is shown. */
import { toBase64 } from '../base64.ts'
import type { Bytes, CallOptions, Size } from '../basics.ts'
import { pause, timeoutOf, withDeadline } from '../deadline.ts'
import { InvalidArgumentError, TimeoutError } from '../errors.ts'
import type { ScreenshotOptions } from '../picture.ts'
import type { Transport } from '../transports/transport.ts'
import { type AccessibleElement, type ElementQuery, elementOf, findIn } from './element.ts'

/** What is shown. */
export interface Screen {
  /** A picture of the screen. */
  screenshot(options?: ScreenshotOptions): Promise<Bytes>
  /** A picture of the screen in base64. */
  screenshotBase64(options?: ScreenshotOptions): Promise<string>
  /** Its size. */
  size(options?: CallOptions): Promise<Size>
  /** The accessibility tree of all that is shown. */
  getTree(options?: CallOptions): Promise<AccessibleElement>
  /** The first element that matches, waited for until `timeoutMs` (0: looked for once); `null` if none came. */
  find(query: ElementQuery, options?: CallOptions): Promise<AccessibleElement | null>
}

/** Milliseconds between two looks at the tree. */
const pollIntervalMs = 200

/** The screen behind a transport. */
export const screenOf = (transport: Transport): Screen => {
  const getTree = async (options?: CallOptions) =>
    elementOf((await transport.send('get_accessibility_tree', {}, options)).tree)
  return {
    screenshot: (options) => transport.screenshot(options),
    screenshotBase64: async (options) => toBase64(await transport.screenshot(options)),
    size: (options) => transport.getScreenSize(options),
    getTree,
    async find(query, options) {
      if (query.role === undefined && query.title === undefined && query.value === undefined) {
        throw new InvalidArgumentError('invalid_argument', '"find" needs "role", "title" or "value".')
      }
      const timeoutMs = timeoutOf(options)
      const signal = options?.signal
      if (timeoutMs === 0) return findIn(await getTree(signal && { signal }), query) ?? null
      try {
        return await withDeadline(options, 'The search for an element', async (limit) => {
          for (;;) {
            const found = findIn(await getTree({ signal: limit, timeoutMs }), query)
            if (found !== undefined) return found
            await pause(pollIntervalMs, limit)
          }
        })
      } catch (error) {
        if (error instanceof TimeoutError) return null
        throw error
      }
    },
  }
}
