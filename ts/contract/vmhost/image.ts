/** An image on this machine: a folder `NAME_TAG` of the cache directory with `image.json` and the files that it names. */
import { type Static, Type } from '@sinclair/typebox'
import { choice } from '../fields/choice.ts'
import { vmName } from './vm.ts'

/** Name of the file that makes a folder an image. */
export const imageFile = 'image.json'

/** Name of the folder of an image, below the cache directory. */
export const imageFolder = (name: string, tag: string): string => `${name}_${tag}`

const file = (description: string) => Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', description })

/** What `image.json` holds; files are named relative to its folder. */
export const LocalImage = Type.Object({
  name: vmName,
  tag: vmName,
  os: choice(['linux', 'windows', 'macOS']),
  kernel: Type.Optional(file('Kernel that is started directly; without one the disk boots itself.')),
  initrd: Type.Optional(file('Initial RAM disk of the kernel.')),
  append: Type.Optional(Type.String({ description: "The kernel's command line." })),
  disk: file('Disk; VMs write to overlays of it.'),
  diskFormat: choice(['qcow2', 'raw']),
  iso: Type.Optional(file('Disc to install from; the disk is empty then, and boots once something is on it.')),
  defaults: Type.Object({
    cpu: Type.Integer({ minimum: 1 }),
    memory: Type.String(),
    diskSize: Type.String(),
    display: Type.String(),
  }),
  ports: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 65535 }), { description: 'Ports it listens on.' }),
  ),
  runsExecutable: Type.Optional(
    Type.Boolean({
      description: 'Whether its guest runs Backlot: its VMs get the executable on a disk of its own, labelled BACKLOT.',
    }),
  ),
  source: Type.Optional(Type.String({ description: 'Path or address that it was imported from.' })),
  recipe: Type.Optional(Type.String({ description: 'Digest of the recipe that it was built from.' })),
})
export type LocalImage = Static<typeof LocalImage>
