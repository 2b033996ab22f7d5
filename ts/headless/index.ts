/** Private desktops: started, watched, ended. */

export { type DesktopEnd, type DesktopOptions, desktopLost, type PrivateDesktop, startDesktop } from './desktop.ts'
export { foreignVariables } from './environment.ts'
export { endXServer, startXServer } from './given-x-server.ts'
export { thisProcess } from './owner.ts'
export type { PartName } from './part.ts'
export { keepRestarting } from './processes/keep-restarting.ts'
export { whenParentEnds } from './processes/parent.ts'
export { findPrograms } from './programs.ts'
export { type WindowManagerName, windowManagerNames } from './window-manager/window-managers.ts'
