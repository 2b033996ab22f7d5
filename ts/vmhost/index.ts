export { accelerationAt } from './acceleration.ts'
export { type Listening, type ListenOptions, listen } from './listen.ts'
export { type SettingsFile, settingsAt } from './settings.ts'
