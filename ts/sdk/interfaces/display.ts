/** The address of a computer's live screen. */
import { withDeadline } from '../deadline.ts'
import { UnsupportedError } from '../errors.ts'
import { type Routes, routes } from '../transports/routes.ts'
import { type DisplayUrlOptions, Transport } from '../transports/transport.ts'

/**
 * An address at which one browser sees the screen, and may take over unless it is `viewOnly`: a link that works once where the
 * server asks for a key. Throws `unsupported` where no browser reaches the server, where it cannot do that, and for `share`.
 */
export const displayUrlOf = async (transport: Transport, options: DisplayUrlOptions): Promise<string> => {
  const way = transport[routes]
  const isOwn = transport.getDisplayUrl !== Transport.prototype.getDisplayUrl
  if (way === undefined || isOwn) return transport.getDisplayUrl(options)
  if (options.share) {
    throw new UnsupportedError('The screen is not public: only the cloud shares one. Leave "share" out.')
  }
  return withDeadline(options, 'The address of the screen', (signal) =>
    linkFrom(way, options.viewOnly === true, signal),
  )
}

/** The server names itself as its own machine does; what this program calls it is what a browser here reaches. */
const linkFrom = async (way: Routes, viewOnly: boolean, signal: AbortSignal): Promise<string> => {
  const { features } = (await (await way.fetch('/status', { signal })).json()) as { features?: readonly string[] }
  // Without a VNC screen the page shows the film, at which nobody acts.
  if (!features?.includes('view') && !(viewOnly && features?.includes('film'))) {
    throw new UnsupportedError(`The server at "${way.name}" shows no live screen; \`backlot computer --desktop\` does.`)
  }
  const link = await way.fetch('/view/link', { method: 'POST', json: viewOnly ? { view_only: true } : {}, signal })
  const { url } = (await link.json()) as { url: string | null }
  const page = new URL(`${(await way.address(signal)).url}/view`)
  page.search = url === null ? '' : new URL(url).search
  if (viewOnly && url !== null && page.searchParams.get('view_only') !== 'true') {
    throw new UnsupportedError(
      `Who sees the screen of the server at "${way.name}" may take over: it is older than this package. Update it.`,
    )
  }
  if (viewOnly) page.searchParams.set('view_only', 'true')
  return page.href
}
