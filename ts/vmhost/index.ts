export type { ListeningServer } from '@backlot/serve'
export { accelerationAt } from './acceleration.ts'
export type { HostSandboxes } from './console/sandboxes.ts'
export { type SettingsFile, settingsAt } from './host/settings.ts'
export { type ListenOptions, listen } from './http/listen.ts'
export { importImage, plannedImport } from './images/importing/import.ts'
export { imagesIn } from './images/listing.ts'
export {
  inspectImage,
  pullNamed,
  pushNamed,
  removeImage,
} from './images/named.ts'
export { prune } from './images/prune.ts'
export { ImageStore } from './images/store.ts'
