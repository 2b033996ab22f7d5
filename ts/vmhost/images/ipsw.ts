/** Apple's public list of restore images for macOS guests, a property list in XML. */
import { Failure } from '@backlot/contract/failure'
import { images } from '@backlot/contract/limits'

/** A restore image. */
export interface RestoreImage {
  readonly url: string
  /** Version of macOS: `26.1`. */
  readonly version: string
}

/** The model that guests of Apple's hypervisor are. */
const model = 'VirtualMac2,1'

/** The latest one that the list at the address names; throws `download_failed`. */
export const latestRestoreImage = async (catalog: string): Promise<RestoreImage> => {
  const failed = (why: string) =>
    new Failure(
      'download_failed',
      `The list of restore images at "${catalog}" cannot be used: ${why}. Try again later.`,
      { url: catalog },
    )
  let text = ''
  try {
    const answer = await fetch(catalog, { signal: AbortSignal.timeout(images.idleTimeoutMs) })
    if (!answer.ok) throw new Error(`the server answers with status ${answer.status}`)
    const decoder = new TextDecoder()
    for await (const part of answer.body ?? []) {
      text += decoder.decode(part, { stream: true })
      if (text.length > images.longestCatalogBytes) throw new Error('it is too long')
    }
  } catch (error) {
    throw failed((error as Error).message)
  }
  const latest = restoreImages(text)
    .sort((a, b) => Bun.semver.order(threeParts(a.version), threeParts(b.version)))
    .at(-1)
  if (latest === undefined) throw failed(`it names none for "${model}"`)
  return latest
}

/** Those for virtual machines that a list names. */
export const restoreImages = (text: string): RestoreImage[] => {
  const found = new Map<string, RestoreImage>()
  const opening = new RegExp(`<key>${RegExp.escape(model)}</key>\\s*<dict>`, 'g')
  for (const begun of text.matchAll(opening)) {
    const rest = dictionaryAt(text, begun.index + begun[0].length)
    for (const [, inner = ''] of rest.matchAll(/<dict>((?:(?!<\/?dict>)[\s\S])*)<\/dict>/g)) {
      const url = textOf(inner, 'FirmwareURL')
      const version = textOf(inner, 'ProductVersion')
      if (url !== undefined && version !== undefined) found.set(url, { url, version })
    }
  }
  return [...found.values()]
}

/** What a dictionary holds whose opening tag ends at `start`. */
const dictionaryAt = (text: string, start: number): string => {
  let depth = 1
  for (const tag of text.slice(start).matchAll(/<(\/?)dict>/g)) {
    depth += tag[1] === '/' ? -1 : 1
    if (depth === 0) return text.slice(start, start + tag.index)
  }
  return ''
}

const textOf = (dictionary: string, key: string): string | undefined =>
  new RegExp(`<key>${key}</key>\\s*<string>([^<]*)</string>`).exec(dictionary)?.[1]?.replaceAll('&amp;', '&')

const threeParts = (version: string): string => [...version.split('.'), '0', '0'].slice(0, 3).join('.')
