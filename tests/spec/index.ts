/** Every requirement of the three specifications. */
import { driverActions } from './driver-actions.ts'
import { driverBrowserRecording } from './driver-browser-recording.ts'
import { driverInspection } from './driver-inspection.ts'
import { driverRecords } from './driver-records.ts'
import { driverServer } from './driver-server.ts'
import type { Requirement, Row } from './requirement.ts'
import { sandboxImage } from './sandbox-image.ts'
import { sandboxInterfaces } from './sandbox-interfaces.ts'
import { sandboxLife } from './sandbox-life.ts'
import { sandboxRuntimes } from './sandbox-runtimes.ts'
import { vmhost } from './vmhost.ts'

const files = [
  vmhost,
  driverServer,
  driverRecords,
  driverInspection,
  driverActions,
  driverBrowserRecording,
  sandboxLife,
  sandboxImage,
  sandboxInterfaces,
  sandboxRuntimes,
] as const

type Ids<Files extends readonly unknown[]> = { [Index in keyof Files]: keyof Files[Index] }[number]

/** The id of a requirement. */
export type RequirementId = Extract<Ids<typeof files>, string>

/** All requirements, in the order of the specifications; an id that stands twice is listed twice. */
export const requirements: readonly Requirement[] = files.flatMap((rows) =>
  Object.entries<Row>(rows).map(([id, row]) => (typeof row === 'string' ? { id, text: row } : { id, ...row })),
)
