/** The images of the host: where they come from, how large they are, who uses them. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Image } from '@backlot/contract/vmhost/images'
import { useEffect, useState } from 'preact/hooks'
import { bytes } from './format.ts'
import type { HostState } from './host-state.ts'
import { OperationList } from './operation-list.tsx'
import { service } from './reach.ts'
import { useWorking } from './working.ts'

/** Milliseconds between two looks while nothing is told: commands change images without the service. */
const pollIntervalMs = 5_000

/** Work that makes images. */
const kinds = ['import', 'pull', 'push']

export const ImageView = ({ host }: { readonly host: HostState }) => {
  const [images, setImages] = useState<readonly Image[]>()
  const [fault, setFault] = useState<string>()
  const working = useWorking()
  const operations = [...host.operations.values()].filter(({ kind }) => kinds.includes(kind)).reverse()
  const ended = operations.filter(({ state }) => state !== 'running').length
  const read = () =>
    service.listImages().then(
      (listed) => {
        setImages(listed)
        setFault(undefined)
      },
      (error: Error) => setFault(error.message),
    )
  // What has ended may have made one.
  useEffect(() => {
    void read()
    const timer = setInterval(read, pollIntervalMs)
    return () => clearInterval(timer)
  }, [ended, host.vms.size])
  const prune = () => working.run('removing…', () => service.pruneImages().then(read))
  return (
    <article class="images">
      <h2>Images</h2>
      {fault !== undefined && <p class="fault">The images cannot be read: {fault}</p>}
      {working.fault !== undefined && <p class="fault">{working.fault}</p>}
      {images?.length === 0 && <p>There are no images here. Build, pull or import one.</p>}
      {images !== undefined && images.length > 0 && <ImageTable images={images} />}
      {images?.some(({ registry }) => registry !== null) && (
        <button type="button" disabled={working.what !== undefined} onClick={prune}>
          Remove what was pulled
        </button>
      )}
      <OperationList operations={operations} />
    </article>
  )
}

const ImageTable = ({ images }: { readonly images: readonly Image[] }) => (
  <table>
    <thead>
      <tr>
        {['Image', 'From', 'System', 'Size', 'VMs'].map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {images.map(({ repository, tag, registry, source, os, bytes: size, users }) => (
        <tr key={`${registry} ${repository}:${tag}`}>
          <th scope="row">
            {repository}:{tag}
          </th>
          <td>{registry ?? source ?? 'built here'}</td>
          <td>{os}</td>
          <td>{bytes(size)}</td>
          <td>
            {users.map(({ name, location }) => (
              <a key={`${location}/${name}`} href={`#${vmAnchor({ name, locationName: location })}`}>
                {name}
              </a>
            ))}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
