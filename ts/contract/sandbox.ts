/** What is kept of a sandbox of this machine: one file each, so that any program finds it again. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { choice } from './fields/choice.ts'

/** The form of the file; a program refuses files of a later one. */
export const sandboxFormat = 1

const orNull = <Field extends TSchema>(field: Field) => Type.Union([field, Type.Null()])
const port = Type.Integer({ minimum: 0, maximum: 65535 })
const text = Type.String()

/** How to reach what a runtime started, without the keys and passwords. */
export const SandboxConnection = Type.Object({
  host: text,
  api_port: port,
  guest_server_port: Type.Optional(port),
  name: Type.Optional(text),
  container_id: Type.Optional(text),
  environment: Type.Optional(choice(['windows', 'mac', 'linux', 'browser'])),
  agent_type: Type.Optional(text),
  vnc_host: Type.Optional(text),
  vnc_port: Type.Optional(port),
  qmp_port: Type.Optional(port),
  grpc_port: Type.Optional(port),
  ssh_port: Type.Optional(port),
  ssh_username: Type.Optional(text),
  ssh_key_filename: Type.Optional(text),
})
export type SandboxConnection = Static<typeof SandboxConnection>

/** The keys and passwords, which stand in a file of their own. */
export const SandboxKeys = Type.Object({
  api_key: Type.Optional(text),
  vnc_password: Type.Optional(text),
  ssh_password: Type.Optional(text),
})
export type SandboxKeys = Static<typeof SandboxKeys>

/** A process. */
export const SandboxOwner = Type.Object({
  pid: Type.Integer({ minimum: 1 }),
  started: orNull(Type.Number()),
  space: orNull(text),
  host: text,
})

/** What the file holds; fields beyond these stay as they are. */
export const SandboxRecord = Type.Object({
  format: Type.Integer({ minimum: 1 }),
  id: Type.String({ minLength: 1, description: 'Of this sandbox alone, whatever had the name before.' }),
  name: text,
  runtime: Type.String({ minLength: 1, description: 'Key of the runtime that started it, or `cloud`.' }),
  settings: Type.Optional(
    Type.Record(text, Type.Unknown(), { description: 'What the runtime needs to find it again, such as a namespace.' }),
  ),
  status: choice(['provisioning', 'running', 'suspended'], { description: 'What was last done with it.' }),
  created_at: text,
  expires_at: orNull(text),
  ephemeral: Type.Boolean(),
  owner: orNull(SandboxOwner),
  image: orNull(Type.Record(text, Type.Unknown())),
  snapshot: orNull(Type.Record(text, Type.Unknown())),
  connection: orNull(SandboxConnection),
  resources: Type.Object({
    cpu: Type.Optional(Type.Number()),
    memory_mb: Type.Optional(Type.Number()),
    disk_gb: Type.Optional(Type.Number()),
  }),
  os_type: orNull(text),
  isolation: orNull(text),
  labels: Type.Record(text, text),
  warnings: Type.Array(text),
  vm_created_at: Type.Optional(Type.String({ description: 'When the cloud says that it was made.' })),
})
export type SandboxRecord = Static<typeof SandboxRecord>
