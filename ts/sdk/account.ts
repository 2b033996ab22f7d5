/** The user's account of a cloud. */
import { cloud } from '@backlot/contract/limits'
import type { CallOptions, Fields } from './basics.ts'
import { checkBaseUrl } from './configuration.ts'
import { endingOf, timeoutOf, withDeadline } from './deadline.ts'
import { TimeoutError } from './errors.ts'
import { node } from './node.ts'

/** What `login` accepts. */
export interface LoginOptions extends CallOptions {
  /** Address of the cloud. @default that of `configure`, then `BACKLOT_BASE_URL`, then the one signed in to last */
  baseUrl?: string
  /** Shows an address to the person. @default it is opened in the browser and written to stderr */
  open?: (url: string) => unknown
}

/** Signs in by the browser, within `timeoutMs` (120_000), and stores the key for this user alone. */
export const login = (options: LoginOptions = {}): Promise<void> =>
  node('Signing in', async () => {
    const [{ cloudAddress }, { storeKey }, { signIn }, { cloudClient }, { openBrowser }] = await Promise.all([
      import('./cloud/access.ts'),
      import('./cloud/credentials.ts'),
      import('./cloud/login.ts'),
      import('./cloud/client.ts'),
      import('./cloud/browser.ts'),
    ])
    const baseUrl = checkBaseUrl(await cloudAddress(options))
    const timeoutMs = timeoutOf(options, cloud.loginMs)
    const late = new TimeoutError(
      'login_timeout',
      `Nobody signed in at "${baseUrl}" within ${timeoutMs} ms. Call \`login()\` again, and allow more with "timeoutMs".`,
      { data: { baseUrl, timeoutMs } },
    )
    await withDeadline({ ...options, timeoutMs: Number.POSITIVE_INFINITY }, 'Signing in', async (signal) => {
      const { ending, over } = endingOf(signal, timeoutMs, () => late)
      try {
        await signIn(baseUrl, ending.signal, {
          open: options.open ?? openBrowser,
          check: (apiKey) => cloudClient({ baseUrl, apiKey }).whoami({}, { signal: ending.signal }),
          store: (apiKey) => storeKey(baseUrl, apiKey),
        })
      } finally {
        over()
      }
    })
  })

/** Whose key it is; throws `unauthorized`. */
export const whoami = async (
  options: CallOptions & { apiKey?: string } = {},
): Promise<{ readonly id: string; readonly email: string } & Fields> => {
  const [{ cloudAccess }, { cloudClient }] = await Promise.all([
    import('./cloud/access.ts'),
    import('./cloud/client.ts'),
  ])
  return cloudClient(await cloudAccess({ apiKey: options.apiKey })).whoami({}, options)
}
