/** What a web app says of itself: its manifest (https://www.w3.org/TR/appmanifest/) and the picture that this names. */
import { InvalidArgumentError } from '../../errors.ts'

/** A web app, as an application of Android needs it. */
export interface WebApp {
  /** Where it begins; of the manifest's origin. */
  readonly startUrl: string
  readonly origin: string
  readonly name: string
  /** `#rrggbb`, where it has one. */
  readonly themeColor?: string
  readonly icon?: Icon
}

/** A picture as it came; `extension` is that of its format. */
export interface Icon {
  readonly bytes: Uint8Array
  readonly extension: 'png' | 'webp' | 'jpg'
}

/** Pixels of a side from which a picture is sharp on every screen. */
const sharpSide = 192

/** Reads both. Throws `invalid_argument` where the address gives no manifest; a picture that is not there is none. */
export const readWebApp = async (manifestUrl: string, signal: AbortSignal): Promise<WebApp> => {
  const { members, url } = await fetchManifest(manifestUrl, signal)
  const startUrl = startOf(members.start_url, url)
  const themeColor = colorOf(members.theme_color)
  const icon = await firstPicture(iconsOf(members.icons, url), signal)
  return {
    startUrl,
    origin: new URL(startUrl).origin,
    name: nameOf(members.short_name) ?? nameOf(members.name) ?? new URL(startUrl).hostname,
    ...(themeColor !== undefined && { themeColor }),
    ...(icon !== undefined && { icon }),
  }
}

/** The members of a manifest, and the address that it has after redirections. */
const fetchManifest = async (manifestUrl: string, signal: AbortSignal) => {
  const refused = (why: string, cause?: unknown) =>
    new InvalidArgumentError(
      'invalid_argument',
      `"${manifestUrl}" gives no web app manifest: ${why}. Give the address that the page's <link rel="manifest"> names.`,
      { data: { manifestUrl }, cause },
    )
  const answer = await fetch(manifestUrl, { signal }).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw refused('nothing answers', cause)
  })
  if (!answer.ok) throw refused(`it answers ${answer.status}`)
  const members: unknown = await answer.json().catch((cause: unknown) => {
    signal.throwIfAborted()
    throw refused('what it answers is not JSON', cause)
  })
  if (typeof members !== 'object' || members === null || Array.isArray(members)) throw refused('it is no object')
  return { members: members as Readonly<Record<string, unknown>>, url: answer.url || manifestUrl }
}

/** A start elsewhere than at the manifest's origin does not count, as in browsers. */
const startOf = (value: unknown, manifestUrl: string): string => {
  const usual = new URL('.', manifestUrl)
  const named = typeof value === 'string' && URL.canParse(value, manifestUrl) ? new URL(value, manifestUrl) : usual
  return (named.origin === usual.origin ? named : usual).href
}

const nameOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.replaceAll(/[\p{Cc}\p{Surrogate}\s]+/gu, ' ').trim() : ''
  return text === '' ? undefined : text
}

/** Of the colours of CSS those in hexadecimal, which manifests use. */
const colorOf = (value: unknown): string | undefined => {
  const [, digits = ''] = (typeof value === 'string' && /^#([0-9a-f]{3,8})$/i.exec(value.trim())) || []
  if (digits.length === 3 || digits.length === 4) return `#${digits.slice(0, 3).replaceAll(/./g, '$&$&')}`
  return digits.length === 6 || digits.length === 8 ? `#${digits.slice(0, 6)}` : undefined
}

/** The addresses of pictures, best first: the smallest of those that are sharp, then the larger ones of the others. */
const iconsOf = (value: unknown, manifestUrl: string): string[] => {
  const icons = (Array.isArray(value) ? value : []) as readonly Readonly<Record<string, unknown>>[]
  return icons
    .filter((icon) => typeof icon?.src === 'string' && URL.canParse(icon.src, manifestUrl))
    .filter(({ purpose = 'any' }) => /\b(any|maskable)\b/.test(String(purpose)))
    .map(({ src, sizes }) => {
      const [, side = '0'] = /(\d+)x\d+/i.exec(String(sizes)) ?? []
      return { url: new URL(String(src), manifestUrl).href, side: Number(side) }
    })
    .toSorted((one, other) => {
      const [isSharp, isOtherSharp] = [one.side >= sharpSide, other.side >= sharpSide]
      if (isSharp !== isOtherSharp) return isSharp ? -1 : 1
      return isSharp ? one.side - other.side : other.side - one.side
    })
    .map(({ url }) => url)
}

/** The first that is a picture which Android draws. */
const firstPicture = async (urls: readonly string[], signal: AbortSignal): Promise<Icon | undefined> => {
  for (const url of urls) {
    const answer = await fetch(url, { signal }).catch(() => undefined)
    const bytes = new Uint8Array((answer?.ok && (await answer.arrayBuffer().catch(() => undefined))) || [])
    signal.throwIfAborted()
    const extension = formatOf(bytes)
    if (extension !== undefined) return { bytes, extension }
  }
  return undefined
}

const formatOf = (bytes: Uint8Array): Icon['extension'] | undefined => {
  const head = String.fromCharCode(...bytes.subarray(0, 12))
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'webp'
  return head.startsWith('\xff\xd8\xff') ? 'jpg' : undefined
}
