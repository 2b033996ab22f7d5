/** What a command line of ours says about a run: the way back from `qemuArguments`. */
import type { Forward, SharedDirectory } from '@backlot/contract/vmhost/vm'
import type { Accelerator } from './arguments.ts'

/** A run, as the words say it. */
export interface Told {
  /** Of the VM. */
  readonly uuid: string
  readonly accelerator: Accelerator
  readonly memoryBytes: number
  readonly hasDisplay: boolean
  readonly forwards: Forward[]
  readonly sharedDirectories: SharedDirectory[]
  readonly qmpSocket: string
  readonly agentSocket: string
}

/** What a hypervisor was started with; undefined for words that are not ours. */
export const toldBy = (words: readonly string[]): Told | undefined => {
  const after = (option: string): string[] =>
    words.flatMap((word, index) => (word === option ? (words[index + 1] ?? []) : []))
  const [uuid] = after('-uuid')
  const accelerator = valuesOf(after('-machine')[0]).accel
  const [, mebibytes] = /^(\d+)M$/.exec(after('-m')[0] ?? '') ?? []
  const sockets = after('-chardev').map(valuesOf)
  const qmpSocket = sockets.find(({ id }) => id === 'qmp')?.path
  const agentSocket = sockets.find(({ id }) => id === 'agent')?.path
  if (uuid === undefined || mebibytes === undefined || qmpSocket === undefined || agentSocket === undefined) return
  if (accelerator !== 'kvm' && accelerator !== 'tcg') return
  return {
    uuid,
    accelerator,
    memoryBytes: Number(mebibytes) * 2 ** 20,
    hasDisplay: after('-vnc').length > 0,
    forwards: forwardsIn(after('-netdev')),
    sharedDirectories: sharedIn(after('-fsdev').map(valuesOf), after('-device').map(valuesOf)),
    qmpSocket,
    agentSocket,
  }
}

type Values = Readonly<Record<string, string>>

/** The values of an option; a comma that stands twice is one of the value. */
const valuesOf = (option = ''): Values =>
  Object.fromEntries(
    (option.match(/(?:[^,]|,,)+/g) ?? []).map((part) => {
      const equals = part.indexOf('=')
      return [part.slice(0, Math.max(0, equals)), part.slice(equals + 1).replaceAll(',,', ',')]
    }),
  )

const forwardsIn = (netdevs: readonly string[]): Forward[] =>
  netdevs
    .flatMap((netdev) => [...netdev.matchAll(/,hostfwd=tcp:([\d.]+):(\d+)-:(\d+)/g)])
    .map(([, address = '', port, guestPort]) => ({ guestPort: Number(guestPort), address, port: Number(port) }))

const sharedIn = (folders: readonly Values[], devices: readonly Values[]): SharedDirectory[] =>
  folders.flatMap(({ id, path, readonly }) => {
    const tag = devices.find(({ fsdev }) => fsdev === id)?.mount_tag
    return path === undefined || tag === undefined ? [] : [{ hostPath: path, tag, readOnly: readonly === 'on' }]
  })
