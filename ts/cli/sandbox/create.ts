/** `backlot sandbox create`: a sandbox that stays until it is deleted. */
import { Failure } from '@backlot/contract/failure'
import { type CreateOptions, Image, type Mount, type Network, type Progress, Sandbox } from '@backlot/sdk'
import { printJson } from '../terminal/output.ts'
import { startProgress } from '../terminal/progress.ts'
import { show } from './show.ts'
import { type Flags, numberOf, onInterrupt, type Verb } from './verb.ts'

/** Creates one and prints what is known of it; a signal takes back what was begun. */
export const create: Verb = {
  words: [0, 1],
  flags: [
    'distro',
    'image',
    'disk',
    'os',
    'network',
    'mount',
    'cpu',
    'memory-mb',
    'disk-gb',
    'label',
    'ttl-ms',
    'strict',
    'json',
  ],
  async run({ name, where, json, flags }) {
    const stop = new AbortController()
    const image = imageOf(flags)
    using _ = onInterrupt(() => stop.abort(new Failure('cancelled', 'The sandbox was not created: interrupted.')))
    using progress = startProgress()
    progress.show('starting a sandbox')
    const options = {
      ...where,
      ...wantedBy(flags),
      ...(name !== '' && { name }),
      signal: stop.signal,
      onProgress: (step: Progress) => progress.show(...stepOf(step)),
    } as CreateOptions
    await using sandbox = await Sandbox.create(image, options)
    const info = await sandbox.getInfo()
    progress.show('')
    await (json ? printJson(info) : show([info]))
  },
}

/** A desktop, unless an image or a disk is named. Throws `invalid_argument`. */
const imageOf = ({ distro, image, disk, os }: Flags): Image => {
  const [first, second] = Object.entries({ distro, image, disk }).filter(([, value]) => value !== undefined)
  if (first !== undefined && second !== undefined) {
    const text = `--${first[0]} and --${second[0]} exclude each other: a sandbox starts from one of them.`
    throw new Failure('invalid_argument', text, { argument: second[0] })
  }
  if (disk !== undefined) return Image.fromFile(disk, { osType: osOf(os) })
  if (os !== undefined) {
    throw new Failure('invalid_argument', '--os is for --disk: what other images hold is known.', { argument: 'os' })
  }
  return image === undefined ? Image.desktop(distro) : Image.fromRegistry(image)
}

const osOf = (text = 'linux'): 'linux' | 'windows' => {
  if (text === 'linux' || text === 'windows') return text
  throw new Failure('invalid_argument', `--os is "${text}"; it takes linux or windows.`, { argument: 'os' })
}

const wantedBy = (flags: Flags) => {
  const sizes = {
    cpu: numberOf('cpu', flags.cpu),
    memoryMb: numberOf('memory-mb', flags['memory-mb']),
    diskGb: numberOf('disk-gb', flags['disk-gb']),
    ttlMs: numberOf('ttl-ms', flags['ttl-ms']),
  }
  return {
    ...Object.fromEntries(Object.entries(sizes).filter(([, value]) => value !== undefined)),
    ...(flags.network !== undefined && { network: networkOf(flags.network) }),
    mounts: (flags.mount ?? []).map(mountOf),
    labels: Object.fromEntries((flags.label ?? []).map(labelOf)),
    strict: flags.strict ?? false,
  }
}

/** `none`, `loopback`, `internet`, or what alone may be reached: `HOST,HOST:PORT,CIDR`. */
const networkOf = (text: string): Network =>
  text === 'none' || text === 'loopback' || text === 'internet' ? text : { allow: text.split(',') }

const mountOf = (text: string): Mount => {
  const [, hostPath, path, readOnly] = /^(\/.*?):(\/.*?)(:ro)?$/.exec(text) ?? []
  if (hostPath !== undefined && path !== undefined) return { hostPath, path, readOnly: readOnly !== undefined }
  throw new Failure('invalid_argument', `--mount is "${text}"; it takes HOST:PATH, two paths from the root.`, {
    argument: 'mount',
  })
}

const labelOf = (text: string): [key: string, value: string] => {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new Failure('invalid_argument', `--label is "${text}"; it takes KEY=VALUE.`, { argument: 'label' })
}

const stepOf = (step: Progress): [text: string, percent?: number] => {
  if (step.phase === 'layer') return [`layer ${step.index + 1} of ${step.count}`, (step.index / step.count) * 100]
  if (step.phase === 'note') return [step.message]
  if (step.phase === 'boot') return step.percent === null ? [step.message] : [step.message, step.percent]
  const { bytes, totalBytes } = step
  return totalBytes === null
    ? [`fetching, ${Math.round(bytes / 2 ** 20)} MiB`]
    : ['fetching', (bytes / totalBytes) * 100]
}
