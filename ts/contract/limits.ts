/** Defaults, limits, environment names and public addresses: each stands here once. */

/** Port of the VM host service. */
export const vmHostPort = 7777

/** Names of the environment variables that Backlot reads. */
export const environment = {
  /** Folder under which configuration, data, cache, state and sockets stand instead of the XDG folders. */
  home: 'BACKLOT_HOME',
  /** Address of the VM host that `backlot host` talks to. */
  hostUrl: 'BACKLOT_HOST_URL',
  /** Key that the VM host asks of its callers, and that `backlot host` sends. */
  hostKey: 'BACKLOT_HOST_KEY',
} as const
