/** Names of the environment variables that Backlot reads. */
export const environment = {
  /** Folder under which configuration, data, cache, state and sockets stand instead of the XDG folders. */
  home: 'BACKLOT_HOME',
  /** Address of the VM host that `backlot host` talks to. */
  hostUrl: 'BACKLOT_HOST_URL',
  /** Token that the VM host asks of its callers, and that our commands send to it. */
  hostToken: 'BACKLOT_HOST_TOKEN',
  /** The key that `backlot computer` asks of its callers. */
  computerKey: 'BACKLOT_COMPUTER_KEY',
  /** File of the native core to load instead of the one of this platform. */
  nativePath: 'BACKLOT_NATIVE_PATH',
  /** The key of the cloud, where neither the program nor `login` gives one. */
  cloudKey: 'BACKLOT_API_KEY',
  /** Address of the cloud API. */
  cloudUrl: 'BACKLOT_BASE_URL',
  /** `long` or `short`: how trees tag elements, whatever the configuration says. */
  elementTags: 'BACKLOT_ELEMENT_TAGS',
  /** `1`: `mcp` runs the tools in its own process, as with `--direct`. */
  noRelaunch: 'DRIVER_MCP_NO_RELAUNCH',
  /** Seconds without a call after which a session ends. */
  sessionIdle: 'DRIVER_SESSION_IDLE_TTL_SECS',
  /** Seconds without a call of any tool after which recordings end. */
  recordingIdle: 'DRIVER_RECORDING_IDLE_SECS',
  /** The ffmpeg that makes films where the native encoder cannot. */
  ffmpeg: 'FFMPEG_BIN',
  /** Address of the package registry that check_for_update asks; empty: none is asked. */
  updateRegistry: 'BACKLOT_UPDATE_REGISTRY',
  /** File with the Debian packages of the own root of sandboxes, one a line, in the place of the recipe's. */
  localPackages: 'BACKLOT_LOCAL_PACKAGES',
  /** Folder with docker's `config.json`, which holds what registries ask for. */
  dockerConfig: 'DOCKER_CONFIG',
  /** Name of the private desktop that a process belongs to; set by Backlot, not by the person. */
  desktop: 'BACKLOT_DESKTOP',
} as const
