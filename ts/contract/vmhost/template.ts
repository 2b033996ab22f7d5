/** Templates of VMs, and the operations of the VM host on them. */
import { type Static, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { sizeOf } from '../fields/size.ts'
import { templatesKept } from '../limits.ts'
import { Done, storage } from './location.ts'

const templateId = Type.String({ pattern: '^[0-9a-f]{16}$', description: 'The hash of what its VMs have in common.' })

/** A first boot that was saved. */
export const Template = Type.Object({
  id: templateId,
  image: Type.Union([Type.String(), Type.Null()], { description: 'The image that it was made of.' }),
  cpuCount: Type.Integer(),
  memorySize: Type.Integer({ description: 'Bytes.' }),
  createdAt: Type.String({ description: 'In ISO 8601.' }),
  usedAt: Type.String({ description: 'When a VM was made of it last, in ISO 8601.' }),
  memoryBytes: Type.Integer({ description: 'Bytes that the saved memory takes on the drive.' }),
  locationName: Type.String({ description: 'The location of the VMs that are made of it.' }),
})
export type Template = Static<typeof Template>

const query = Type.Object({ storage: Type.Optional(storage) })
const absent = { storage: 'every location' } as const

/** The operations. */
export const templateOperations = {
  listTemplates: endpoint({
    method: 'GET',
    path: '/templates',
    ours: true,
    summary: 'List the templates.',
    description:
      'A VM that is created with `template` makes the one of its kind where there is none. Where a location has more than ' +
      `${templatesKept.most} then, or they take more than ${sizeOf(templatesKept.bytes)} of its drive, those go that were ` +
      'not used for longest.',
    query,
    success: { status: 200, description: 'The templates, the oldest first.', result: Type.Array(Template) },
    refusal: 'Invalid request',
    refusals: ['location_not_found'],
    command: { group: 'vm', words: ['template', 'ls'], positional: [], absent },
  }),
  deleteTemplate: endpoint({
    method: 'DELETE',
    path: '/templates/{id}',
    ours: true,
    summary: 'Delete a template.',
    description: 'The VMs that were made of it stay as they are; the next of its kind boots again.',
    params: Type.Object({ id: templateId }),
    query,
    success: { status: 200, description: 'The template is gone.', result: Done },
    refusal: 'Invalid request',
    refusals: ['template_not_found', 'vm_busy'],
    command: { group: 'vm', words: ['template', 'rm'], positional: ['id'], absent },
  }),
} as const
