/** Private desktops: started, watched, ended. */
export { type DesktopEnd, type DesktopOptions, type PrivateDesktop, startDesktop } from './desktop.ts'
export { foreignVariables } from './environment.ts'
export { whenParentEnds } from './parent.ts'
export type { PartName } from './part.ts'
export { findPrograms } from './programs.ts'
export { type WindowManagerName, windowManagerNames } from './window-managers.ts'
