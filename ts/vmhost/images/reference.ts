/** What an image in a registry is called. */
import { Failure } from '@backlot/contract/failure'

/** No two images have the same of all four. */
export interface ImageReference {
  /** `HOST` or `HOST:PORT`. */
  readonly registry: string
  /** One or more parts with slashes between them; empty where the image stands at the top of its registry. */
  readonly organization: string
  readonly name: string
  readonly tag: string
  /** The manifest that must be found there. */
  readonly digest?: string
}

/** What holds where a reference does not say. */
export type ReferenceDefaults = Pick<ImageReference, 'registry' | 'organization'>

const part = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/
const tagPattern = /^\w[\w.-]{0,127}$/
const registryPattern = /^(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?$/

/** A digest as registries write it. */
export const digestPattern = /^sha256:[0-9a-f]{64}$/

/** Reads `[REGISTRY/][ORGANIZATION/]NAME[:TAG][@DIGEST]`; throws `invalid_argument` naming the part. */
export const parseReference = (text: string, defaults: ReferenceDefaults): ImageReference => {
  const [before = '', digest] = text.split('@')
  const segments = before.split('/')
  const isAddressed = segments.length > 1 && /[.:]|^localhost$/.test(segments[0] ?? '')
  const registry = isAddressed ? (segments.shift() ?? '') : registryOf(defaults.registry)
  const [name = '', tag = 'latest', ...more] = (segments.pop() ?? '').split(':')
  const organization = segments.length > 0 || isAddressed ? segments.join('/') : defaults.organization
  const wrong =
    registryFault(registry) ??
    organizationFault(organization) ??
    (part.test(name) ? undefined : `"${name}" is no name of an image`) ??
    (tagPattern.test(tag) && more.length === 0 ? undefined : `"${[tag, ...more].join(':')}" is no tag`) ??
    (digest === undefined || digestPattern.test(digest) ? undefined : `"${digest}" is no digest`)
  if (wrong === undefined) return { registry, organization, name, tag, ...(digest !== undefined && { digest }) }
  throw new Failure(
    'invalid_argument',
    `The image "${text}" cannot be looked for: ${wrong}. Write it like "NAME:TAG" or "REGISTRY/ORGANIZATION/NAME:TAG".`,
    { argument: 'image', image: text },
  )
}

/** The host of a registry that may be written with a scheme. */
export const registryOf = (address: string): string => address.replace(/^https?:\/\//i, '').replace(/\/+$/, '')

const registryFault = (registry: string): string | undefined =>
  registryPattern.test(registry) ? undefined : `"${registry}" is no address of a registry`

const organizationFault = (organization: string): string | undefined =>
  organization === '' || organization.split('/').every((each) => part.test(each))
    ? undefined
    : `"${organization}" is no organization`

/** `ORGANIZATION/NAME`, as registries know it. */
export const repositoryOf = ({ organization, name }: ImageReference): string =>
  organization === '' ? name : `${organization}/${name}`

/** `REGISTRY/ORGANIZATION/NAME:TAG`. */
export const referenceText = (reference: ImageReference): string =>
  `${reference.registry}/${repositoryOf(reference)}:${reference.tag}`
