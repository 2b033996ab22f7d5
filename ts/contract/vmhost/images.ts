/** Operations of the VM host on images: pulled, pushed, listed, removed; and Apple's restore images. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { choice } from '../fields/choice.ts'
import { images } from '../limits.ts'
import { storage } from './location.ts'
import { vmName, vmReference } from './vm.ts'

const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description })

const knownImage = {
  repository: Type.String({ description: '`ORGANIZATION/NAME`, or `NAME` where it was built here.' }),
  imageId: Type.String({ description: 'Digest of its manifest, or of the recipe that it was built from.' }),
  registry: orNull(Type.String(), 'The registry that it came from; null where it was built here.'),
  organization: orNull(Type.String(), 'Whose it is there; null where it was built here.'),
  name: Type.String(),
  tag: Type.String(),
  os: Type.String({ description: 'Operating system of its guests.' }),
  folder: Type.String({ description: 'Folder of its files on the host.' }),
  bytes: Type.Integer({ description: 'Bytes that its files take on the host.' }),
  source: orNull(Type.String(), 'Path or address that it was imported from; null where it was not.'),
}

/** An image on this machine, as its files tell. */
const KnownImage = Type.Object(knownImage)
export type KnownImage = Static<typeof KnownImage>

/** An image on this machine, and the VMs that were made of one of its name. */
export const Image = Type.Object({
  ...knownImage,
  users: Type.Array(Type.Object({ name: vmName, location: Type.String() }), {
    description: 'VMs that were made of an image of this name; they stay where it is removed.',
  }),
})
export type Image = Static<typeof Image>

const image = Type.String({
  minLength: 1,
  maxLength: 512,
  description: 'Image to pull, `NAME:TAG`, or with its registry and organization before it.',
})
const registry = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Address of the registry, `HOST` or `HOST:PORT`; on this machine it is spoken to without encryption.',
})
const organization = Type.String({ maxLength: 255, description: 'Whose images in the registry are meant.' })

const pullBody = Type.Object({
  image,
  name: Type.Optional(vmName),
  registry: Type.Optional(registry),
  organization: Type.Optional(organization),
  storage: Type.Optional(storage),
})

const absent = {
  name: 'the name and the tag of the image, with `_` between them',
  registry: 'that of the configuration',
  organization: 'that of the configuration',
  storage: 'the default location',
} as const

const operationId = Type.String({ description: 'What `GET /operations/{id}` tells about.' })

/** The operations, in the order of the specification. */
export const imageOperations = {
  listImages: endpoint({
    method: 'GET',
    path: '/images',
    summary: 'List the images of this machine.',
    description: 'Those that were pulled and those that were built here.',
    query: Type.Object({ organization: Type.Optional(organization) }),
    success: { status: 200, description: 'The images, sorted by name.', result: Type.Array(Image) },
    refusal: 'Failed to list images',
    command: { group: 'host', words: ['images'], positional: [], absent: { organization: 'those of everyone' } },
  }),
  getIpsw: endpoint({
    method: 'GET',
    path: '/ipsw',
    summary: 'Show the address of the latest restore image of macOS.',
    description: "It is looked up in Apple's public list, on any host.",
    success: {
      status: 200,
      description: 'The address.',
      result: Type.Object({ url: Type.String(), version: Type.String({ description: 'Version of macOS.' }) }),
    },
    refusal: 'Failed to get the URL',
    command: { group: 'host', words: ['ipsw'], positional: [] },
  }),
  pullImage: endpoint({
    method: 'POST',
    path: '/pull',
    summary: 'Pull an image, and make a VM of it.',
    description: 'It is answered when the VM is whole. Layers that are here already are not fetched again.',
    body: pullBody,
    success: {
      status: 200,
      description: 'The VM exists.',
      result: Type.Object({ message: Type.String(), image: Type.String(), name: vmName, operationId }),
    },
    refusal: 'Pull failed',
    command: { group: 'vm', words: ['pull'], positional: ['image'], absent },
  }),
  startPull: endpoint({
    method: 'POST',
    path: '/pull/start',
    ours: true,
    summary: 'Begin to pull an image, and to make a VM of it.',
    description:
      'It is answered at once; the VM is `pulling` until it is whole, and asking for it tells why it failed. It goes on ' +
      'when the service is started again.',
    body: pullBody,
    success: {
      status: 202,
      description: 'The pull is under way.',
      result: Type.Object({
        message: Type.String(),
        image: Type.String(),
        name: vmName,
        status: choice(['pulling']),
        operationId,
      }),
    },
    refusal: 'Invalid request',
    command: { group: 'vm', words: ['start-pull'], positional: ['image'], absent },
  }),
  pushVm: endpoint({
    method: 'POST',
    path: '/vms/push',
    summary: "Push a stopped VM's disk to a registry.",
    description:
      'It is answered at once, and goes on when the service is started again. What is pushed is the disk as it was when ' +
      'the push began. Layers that the registry has already are not sent again.',
    body: Type.Object({
      name: vmReference,
      imageName: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the image in the registry.' }),
      tags: Type.Array(Type.String({ pattern: '^\\w[\\w.-]{0,127}$' }), {
        minItems: 1,
        maxItems: 32,
        description: 'Tags to push it under.',
      }),
      registry: Type.Optional(registry),
      organization: Type.Optional(organization),
      storage: Type.Optional(storage),
      chunkSizeMb: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 65_536,
          default: images.chunkSizeMb,
          description: 'Megabytes of the disk in one layer.',
        }),
      ),
      compression: Type.Optional(
        choice(['zstd', 'gzip'], {
          default: 'zstd',
          description: 'How layers are packed; `gzip` for clients that read nothing else.',
        }),
      ),
    }),
    success: {
      status: 202,
      description: 'The push is under way.',
      result: Type.Object({
        message: Type.String(),
        name: Type.String(),
        imageName: Type.String(),
        tags: Type.Array(Type.String()),
        operationId,
      }),
    },
    refusal: 'Invalid request',
    command: {
      group: 'vm',
      words: ['push'],
      positional: ['name', 'imageName'],
      defaults: { tags: ['latest'] },
      absent: {
        registry: absent.registry,
        organization: absent.organization,
        storage: 'looked for in the default location, then in the others',
      },
    },
  }),
  importImage: endpoint({
    method: 'POST',
    path: '/images/import',
    ours: true,
    summary: 'Make an image of a disk, a disc, or a packed one.',
    description:
      'A disk of any format that `qemu-img` reads is converted, a zip archive with one and what is packed with gzip, zstd, xz or bzip2 ' +
      'are unpacked; a disc (ISO 9660) becomes an empty disk and a disc to install from. It is answered at once, and begun ' +
      'anew when the service is started again; the operation tells the progress and why it failed. An image of that name is ' +
      'replaced when the new one is whole; VMs that were made of it stay.',
    body: Type.Object({
      source: Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'Absolute path of a file on the host, or an address (`https://…`).',
      }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 201, description: 'Name of the image, `NAME:TAG`.' })),
      os: Type.Optional(
        choice(['linux', 'windows'], { default: 'linux', description: 'Operating system of its guests.' }),
      ),
    }),
    success: {
      status: 202,
      description: 'The import is under way.',
      result: Type.Object({
        message: Type.String(),
        image: Type.String({ description: '`NAME:TAG`, which VMs are made of when the operation is done.' }),
        operationId,
      }),
    },
    refusal: 'Invalid request',
    refusals: ['invalid_argument', 'file_not_found', 'already_running'],
    command: {
      group: 'host',
      words: ['import'],
      positional: ['source'],
      absent: { name: 'as the file is called, and `latest`' },
    },
  }),
  pruneImages: endpoint({
    method: 'POST',
    path: '/prune',
    summary: 'Remove the images that were pulled.',
    description:
      'VMs that were made of them stay as they are, and so do images that were built here and what is being pulled now.',
    success: {
      status: 200,
      description: 'They are removed.',
      result: Type.Object({
        message: Type.String(),
        freedBytes: Type.Integer({ description: 'Bytes that the drive has more now.' }),
      }),
    },
    refusal: 'Prune failed',
    command: { group: 'host', words: ['prune'], positional: [] },
  }),
} as const
