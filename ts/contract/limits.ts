/**
 * Defaults, limits, environment names and public addresses that more than one file reads, by surface; a limit with one reader
 * stands beside it. Those of the computer server are in `computer/limits.ts`.
 */
export {
  accessibleActionTimeoutMs,
  longestText,
  longestTimeoutMs,
  scroll,
  typingDelayMs,
  valueAppearsMs,
} from './limits/actions.ts'
export { callsAtOnce, daemon, longestLineBytes } from './limits/daemon.ts'
export { environment } from './limits/environment.ts'
export { cloud, updates } from './limits/network.ts'
export { evidence, late, observation, tree, waiting, zoomsKept } from './limits/observation.ts'
export { page } from './limits/pages.ts'
export { privateDesktop } from './limits/private-desktop.ts'
export { consoleAccess, longestSocketPath, screens } from './limits/servers.ts'
export { recording, replay, secrets, sessions } from './limits/sessions.ts'
export {
  hostInterface,
  images,
  largestDisplay,
  longestHostBodyBytes,
  mostDisksBelow,
  stopGrace,
  templatesKept,
  vmHostPort,
  vmHostPrefixes,
} from './limits/vm-host.ts'
