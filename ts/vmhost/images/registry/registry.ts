/** A registry of images, over the OCI distribution protocol 1.1. */
import { createHash } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'
import { images } from '@backlot/contract/limits'
import { answerTo, type Challenge, challengeOf, isLoopback } from './authorization.ts'
import { certificatesFor } from './certificates.ts'
import { credentialsFor } from './credentials.ts'
import { type Descriptor, type Index, type Manifest, manifestTypes, mediaTypes, ownEntry } from './manifest.ts'

/** How one thing is asked for; the body is made anew for each try. */
interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: () => Bun.BodyInit
  readonly signal: AbortSignal
}

/** A manifest, and the digest of its bytes. */
export interface FoundManifest {
  readonly manifest: Manifest
  readonly digest: string
}

/** One repository of a registry; `push` asks for the right to write to it. */
export class Repository {
  #challenge: Challenge | undefined
  #authorization: string | undefined

  constructor(
    readonly registry: string,
    readonly name: string,
    readonly right: 'pull' | 'push',
  ) {}

  /** The manifest under a tag or digest, that of this machine where there are several. Throws `image_not_found`. */
  async manifest(reference: string, signal: AbortSignal): Promise<FoundManifest> {
    const { bytes, digest, type } = await this.#readManifest(reference, signal)
    const document = JSON.parse(bytes.toString('utf8')) as Manifest | Index
    if (type === mediaTypes.index || type === mediaTypes.dockerList || 'manifests' in document) {
      const entry = ownEntry(document as Index)
      if (entry === undefined) throw this.#none(reference, `it has none for ${process.arch}`)
      return this.manifest(entry.digest, signal)
    }
    return { manifest: document as Manifest, digest }
  }

  async #readManifest(reference: string, signal: AbortSignal) {
    const answer = await this.#ask(`manifests/${reference}`, {
      headers: { Accept: manifestTypes.join(', ') },
      signal: soon(signal),
    })
    if (answer.status === 404) throw this.#none(reference, 'it has none of that name')
    const bytes = await limited(await this.#expect(answer, 200))
    const digest = digestOf(bytes)
    const expected = reference.startsWith('sha256:') ? reference : answer.headers.get('docker-content-digest')
    if (expected !== null && expected !== digest) throw corrupt(this.registry, `the manifest "${reference}"`)
    return { bytes, digest, type: answer.headers.get('content-type') ?? '' }
  }

  /** A small blob, whole and checked. */
  async smallBlob({ digest, size }: Descriptor, signal: AbortSignal): Promise<Buffer> {
    const bytes = await limited(await this.#expect(await this.blob(digest, 0, soon(signal)), 200))
    if (bytes.length !== size || digestOf(bytes) !== digest) throw corrupt(this.registry, `the blob "${digest}"`)
    return bytes
  }

  /** The answer with a blob from byte `start` on: status 206, or 200 where the registry gives all of it. */
  async blob(digest: string, start: number, signal: AbortSignal): Promise<Response> {
    const headers = { 'Accept-Encoding': 'identity', ...(start > 0 && { Range: `bytes=${start}-` }) }
    const answer = await this.#ask(`blobs/${digest}`, { headers, signal })
    if (answer.status === 404) throw this.#none(digest, 'it has no such layer')
    if (answer.status === 401 || answer.status === 403) await this.#expect(answer, 200)
    return answer
  }

  /** Whether it has the blob. */
  async has(digest: string, signal: AbortSignal): Promise<boolean> {
    const answer = await this.#ask(`blobs/${digest}`, { method: 'HEAD', signal: soon(signal) })
    return answer.status === 200
  }

  /** Sends a small blob. */
  async send(digest: string, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    await this.#end(await this.#upload(signal), digest, signal, bytes)
  }

  /**
   * Sends a blob as it is made, as docker does: its digest and size are known when it has ended. `make` begins it, each time
   * anew. It never stands in memory whole, as files that are sent over https do.
   */
  async sendMade<Layer extends { readonly digest: string }>(
    make: () => { readonly stream: AsyncIterable<Uint8Array>; layer(): Layer },
    signal: AbortSignal,
  ): Promise<Layer> {
    const place = await this.#upload(signal)
    let made: ReturnType<typeof make> | undefined
    const body = () => {
      made = make()
      return made.stream as unknown as Bun.BodyInit
    }
    const answer = await this.#ask(place.href, { method: 'PATCH', headers: { 'Content-Type': blobType }, body, signal })
    const next = placeIn(await this.#expect(answer, 202), place)
    if (made === undefined) throw new Error('nothing was sent')
    const layer = made.layer()
    await this.#end(next, layer.digest, signal)
    return layer
  }

  /** Begins to send a blob; gives where to. */
  async #upload(signal: AbortSignal): Promise<URL> {
    const asked = { method: 'POST', headers: { 'Content-Length': '0' }, signal: soon(signal) }
    return placeIn(
      await this.#expect(await this.#ask('blobs/uploads/', asked), 202),
      new URL(this.#url('blobs/uploads/')),
    )
  }

  /** Ends it with the bytes that are still to be sent. */
  async #end(
    place: URL,
    digest: string,
    signal: AbortSignal,
    bytes: Uint8Array<ArrayBuffer> = new Uint8Array(),
  ): Promise<void> {
    place.searchParams.set('digest', digest)
    const headers = { 'Content-Type': blobType, 'Content-Length': String(bytes.length) }
    await this.#expect(await this.#ask(place.href, { method: 'PUT', headers, body: () => bytes, signal }), 201)
  }

  /** Puts a manifest under a tag. */
  async putManifest(tag: string, text: string, signal: AbortSignal): Promise<void> {
    const headers = { 'Content-Type': mediaTypes.manifest }
    await this.#expect(
      await this.#ask(`manifests/${tag}`, { method: 'PUT', headers, body: () => text, signal: soon(signal) }),
      201,
    )
  }

  /** Asks, with a token where the registry wants one; follows redirections without it. */
  async #ask(path: string, asked: RequestOptions): Promise<Response> {
    const answer = await this.#once(path, asked)
    if (answer.status !== 401) return answer
    const challenge = challengeOf(answer.headers.get('www-authenticate'))
    await answer.body?.cancel()
    this.#challenge = challenge ?? this.#challenge
    if (this.#challenge === undefined) return answer
    try {
      const scope = `repository:${this.name}:${this.right === 'push' ? 'pull,push' : 'pull'}`
      const credentials = await credentialsFor(this.registry)
      this.#authorization = await answerTo(this.#challenge, scope, credentials, asked.signal)
    } catch (error) {
      if (error instanceof Failure || asked.signal.aborted) throw error
      throw this.#refused((error as Error).message)
    }
    if (this.#authorization === undefined) throw this.#refused('it asks for a user and a password, and none is known')
    return this.#once(path, asked)
  }

  async #once(path: string, { method = 'GET', headers, body, signal }: RequestOptions): Promise<Response> {
    let address = new URL(path, this.#url(''))
    for (let turn = 0; turn < 5; turn++) {
      const isOwn = address.host === new URL(this.#url('')).host
      if (address.protocol !== 'https:' && !isLoopback(address.host)) {
        throw this.#refused(`it sends elsewhere without encryption, to "${address.host}"`)
      }
      const answer = await fetch(address, {
        method,
        headers: {
          ...headers,
          ...(isOwn && this.#authorization !== undefined && { Authorization: this.#authorization }),
        },
        ...(body !== undefined && { body: body() }),
        redirect: 'manual',
        decompress: false,
        ...(address.protocol === 'https:' && { tls: await certificatesFor(address.host) }),
        keepalive: false,
        signal,
      })
      const next = answer.headers.get('location')
      if (answer.status < 300 || answer.status > 308 || answer.status === 304 || next === null) return answer
      await answer.body?.cancel()
      address = new URL(next, address)
    }
    throw new Error('it sends from one address to the next without end')
  }

  /** Plain HTTP is for registries of this machine alone. */
  #url(path: string): string {
    return `${isLoopback(this.registry) ? 'http' : 'https'}://${this.registry}/v2/${this.name}/${path}`
  }

  async #expect(answer: Response, status: number): Promise<Response> {
    if (answer.status === status) return answer
    const text = (await answer.text().catch(() => '')).slice(0, 300)
    if (answer.status === 401 || answer.status === 403) throw this.#refused(`it answers with status ${answer.status}`)
    if (answer.status >= 500 || answer.status === 429) throw new Error(`status ${answer.status}`)
    throw unreachable(this.registry, `it answers with status ${answer.status} ${text}`.trim())
  }

  #refused(why: string): Failure {
    const next = 'Sign in with `docker login`, or name another organization.'
    return new Failure('registry_refused', `The registry "${this.registry}" refuses "${this.name}": ${why}. ${next}`, {
      registry: this.registry,
    })
  }

  #none(reference: string, why: string): Failure {
    const image = `${this.registry}/${this.name}${reference.startsWith('sha256:') ? '@' : ':'}${reference}`
    return new Failure('image_not_found', `There is no image "${image}": ${why}. Check name, tag and organization.`, {
      image,
    })
  }
}

const blobType = 'application/octet-stream'

/** Where an answer says that a blob is sent to. */
const placeIn = (answer: Response, asked: URL): URL => {
  const place = URL.parse(answer.headers.get('location') ?? '', asked.href)
  if (place === null) throw new Error('it names no place to send a layer to')
  return place
}

/** That a registry cannot be used, and why. */
export const unreachable = (registry: string, why: string): Failure =>
  new Failure('registry_unreachable', `The registry "${registry}" cannot be used: ${why}. Check its address.`, {
    registry,
  })

/** Whether a certificate was refused: codes of OpenSSL's verification, and of names that do not fit. */
const isOfCertificate = (error: unknown): boolean =>
  /CERT|UNABLE_TO_VERIFY/.test(String((error as NodeJS.ErrnoException).code))

const untrusted = (registry: string, why: string): Failure => {
  const next = `Where an authority of your own signs for it, put its certificate into /etc/docker/certs.d/${registry}/ca.crt, or name it in NODE_EXTRA_CA_CERTS and start this again.`
  return new Failure('registry_unreachable', `The certificate of "${registry}" is not trusted: ${why}. ${next}`, {
    registry,
  })
}

/** That what came is not what its digest says. */
export const corrupt = (registry: string, what: string): Failure =>
  new Failure('layer_corrupt', `The registry "${registry}" sent something else than ${what}. Have it pushed again.`, {
    registry,
  })

/** Digest of bytes, as registries write it. */
export const digestOf = (bytes: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** For what is answered at once: given up where it is not. */
const soon = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(images.idleTimeoutMs)])

/** A short answer; a longer one is refused before it fills the memory. */
const limited = async (answer: Response): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of answer.body ?? []) {
    length += part.byteLength
    if (length > images.longestManifestBytes) throw new Error('a manifest of it is longer than any may be')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Does what may fail with the connection, several times where it does; a `Failure`, and a certificate that is refused, are final. */
export const withRetries = async <T>(
  registry: string,
  signal: AbortSignal,
  attempt: () => Promise<T>,
  /** Grows as long as tries are worth it. */
  progress: () => number = () => 0,
): Promise<T> => {
  let before = progress()
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof Failure) throw error
      if (isOfCertificate(error)) throw untrusted(registry, (error as Error).message)
      if (progress() > before) [before, tries] = [progress(), 1]
      if (tries >= images.tries) throw unreachable(registry, (error as Error).message)
      await Bun.sleep(images.pauseMs * 2 ** (tries - 1))
    }
  }
}
