/** Defaults, limits, environment names and public addresses: each stands here once. */

/** Port of the VM host service. */
export const vmHostPort = 7777

/** Prefixes under which the VM host answers; clients of ours use the first. */
export const vmHostPrefixes = ['/svc', '/lume'] as const

/** Bytes of a request body that the VM host reads; longer ones are refused. */
export const longestHostBodyBytes = 1024 * 1024

/** Answers after which a server collects its garbage. */
export const answersPerCollection = 100

/** Screens in browsers. */
export const screens = {
  /** Bytes of input that wait at most for a screen to take them, and in one message. */
  mostWaitingBytes: 4 * 1024 * 1024,
} as const

/** How a browser is let in where a server asks for a key. */
export const consoleAccess = {
  /** Milliseconds for which a link that was not used is good. */
  linkMs: 10 * 60 * 1_000,
  /** Seconds for which the cookie is good that a link gives. */
  passSeconds: 7 * 24 * 60 * 60,
} as const

/** Pixels of the largest screen of a VM: the VNC server of QEMU 7.2 shows no more of a larger one. */
export const largestDisplay = { width: 2560, height: 2048 } as const

/** What the VM host says of itself to clients that ask whether they fit it. */
export const hostInterface = {
  /** The version of the interface whose clients it serves. */
  version: '0.6.0',
  /** Memory of the host that one VM is expected to take. */
  bytesPerVm: 2 ** 30,
} as const

/** Seconds that a guest has to shut down when it is stopped: where nobody says how many, and at most. */
export const stopGrace = { usualSeconds: 11, mostSeconds: 240 } as const

/** Images in registries, and where they come from when nobody says. */
export const images = {
  /** Whose images are pulled and pushed where neither the request nor the configuration says. */
  registry: 'ghcr.io',
  organization: 'trycua',
  /** Megabytes of a disk in one layer of a push. */
  chunkSizeMb: 512,
  /** Bytes of the empty disk of an image that holds a disc to install from; on the drive it takes what is written to it. */
  emptyDiskBytes: 64 * 2 ** 30,
  /** Layers that are fetched or sent at a time. */
  layersAtOnce: 3,
  /** Bytes of a manifest or a configuration that are read. */
  longestManifestBytes: 4 * 1024 * 1024,
  /** Tries without a new byte, the pause before the second, and the silence after which a connection is given up. */
  tries: 5,
  pauseMs: 500,
  silenceMs: 30_000,
  /** Apple's public list of restore images, and the bytes of it that are read. */
  ipswCatalog: 'https://mesu.apple.com/assets/macos/com_apple_macOSIPSW/com_apple_macOSIPSW.xml',
  longestCatalogBytes: 32 * 1024 * 1024,
} as const

/** Operations of the VM host that are remembered, those under way aside. */
export const operationsKept = 200

/** Events of the VM host that are kept for those who come back. */
export const eventsKept = 1_000

/** Bytes of the VM host's log file, after which another is begun; one before it is kept. */
export const hostLogBytes = 2_000_000

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

/** Where a root is built from whose machine has no sources of that release; SUITE stands for its name. */
export const debian = {
  sources: [
    'deb http://deb.debian.org/debian SUITE main',
    'deb http://deb.debian.org/debian SUITE-updates main',
    'deb http://deb.debian.org/debian-security SUITE-security main',
  ],
} as const

/** Tree of one window: how much is walked, and for how long, when the call does not say. */
export const tree = { maxElements: 10_000, maxDepth: 100, timeoutMs: 5_000 } as const

/** Longest time in milliseconds that a call may ask for. */
export const longestTimeoutMs = 60_000

/** Milliseconds that one accessibility action or text insertion may take. */
export const accessibleActionTimeoutMs = 2_000

/** Milliseconds that a value may take to appear after keys or a click have set it. */
export const valueAppearsMs = 2_500

/** Milliseconds for which an application that is choosing from its own list may leave questions unanswered. */
export const busyApplicationMs = 12_000

/** Watching an action for its effect. */
export const evidence = {
  /** Milliseconds at most, unless the configuration says otherwise. */
  ceilingMs: 400,
  /** Milliseconds between the first two looks when no event comes; how much longer each further wait is. */
  lookEveryMs: 20,
  slowing: 1.3,
  /** Milliseconds in which nothing may be drawn before an action, for changed pixels to be its effect: carets and clocks pause for less. */
  calmMs: 1_100,
  /** Milliseconds for which changed pixels must stay: a highlight under a pointer that passes is gone sooner. */
  stayMs: 100,
  /** Milliseconds of silence after which events count as an answer to what was just done. */
  silenceMs: 80,
  /** Milliseconds that an application gets at most to prove that it has handled an action. */
  handledMs: 2_000,
  /** Milliseconds without drawing and events, after all was handled, in which two frames of a usual display would have come. */
  frameMs: 36,
} as const

/** What comes of an action after it was answered. */
export const late = {
  /** Milliseconds for which it is waited for; an application must have been silent for as long before. */
  followMs: 1_000,
  /** Milliseconds between two looks at most. */
  lookEveryMs: 200,
  /** Milliseconds that an answer waits at most for a look at what came late. */
  answerMs: 250,
  /** Actions that are followed at a time, all sessions together. */
  mostFollowed: 32,
  /** Facts that are kept for a session until its next answer; of more only the number. */
  mostKept: 20,
  /** Applications whose last words are remembered. */
  mostApplications: 64,
} as const

/** A drag, as long as the call does not say otherwise, and at most. */
export const drag = { durationMs: 500, steps: 20, longestMs: 10_000, mostSteps: 1_000 } as const

/** Waiting for a condition, in milliseconds. */
export const waiting = {
  timeoutMs: 10_000,
  /** How long pixels stay until they count as still. */
  stillMs: 500,
  digestEveryMs: 20,
  /** An application that announces nothing is looked at again after so long. */
  lookAgainMs: 500,
  /** How long an application that announces much must be quiet, and how long that is awaited. */
  quietMs: 30,
  settleMs: 300,
} as const

/** Calls in one run_steps. */
export const mostSteps = 64

/** Bringing an element into view. */
export const intoView = {
  /** Gestures of the wheel at most. */
  turns: 60,
  /** Milliseconds in which what was scrolled begins to move, and in which it comes to rest. */
  movesMs: 400,
  settlesMs: 2_500,
  /** Milliseconds between two looks. */
  lookEveryMs: 30,
} as const

/** How far one scroll goes. */
export const scroll = {
  amount: 3,
  most: 100,
  /** Pixels that one detent of a wheel moves, about. */
  detentPixels: 60,
  /** Milliseconds that an application gets at most to come to rest before it is scrolled. */
  restsMs: 500,
  /** Milliseconds in which what is scrolled moves, or does not. */
  movesMs: 300,
} as const

/**
 * Milliseconds that an application must announce nothing before it is observed, and for which that is waited at most
 * unless the configuration says otherwise. A browser gathers its announcements for some 50 ms.
 */
export const observation = { quietMs: 80, ceilingMs: 1_000 } as const

/** Milliseconds between two characters that are typed as key events. */
export const typingDelayMs = 30

/** Characters that one call may type. */
export const longestText = 100_000

/** Characters of the clipboard's text that are shown, and those that may be written. */
export const clipboard = { longestText: 100_000, longestWrittenText: 10_000_000, mostBytes: 64 * 1024 * 1024 } as const

/** Milliseconds that an element may take until it has the focus that its toolkit gave it. */
export const focusAppearsMs = 500

/** Milliseconds that a launched application has to show its first window. */
export const launchTimeoutMs = 10_000

/** The driver's daemon. */
export const daemon = {
  /** Seconds without a connection after which one that a client started ends. */
  idleSeconds: 300,
  /** Milliseconds that one may take from its start to its first answer. */
  startTimeoutMs: 10_000,
  /** Milliseconds until one that takes connections and answers none of them is given up. */
  greetingTimeoutMs: 5_000,
  /** Milliseconds that one may take to its end. */
  endTimeoutMs: 30_000,
  /** Bytes of its log file, after which the older half goes. */
  logBytes: 1_000_000,
} as const

/** Sessions of agents. */
export const sessions = {
  /** Seconds without a call after which one ends, unless the environment says otherwise. */
  idleSeconds: 300,
  /** Characters of a session's name. */
  longestName: 200,
  /** Ended sessions that are remembered, so that their late calls are known as such. */
  endedKept: 1_000,
} as const

/**
 * Disks that the disk of a VM lies on, from which on a clone is a copy of its own: each costs whoever reads the disk an open
 * file and a lookup.
 */
export const mostDisksBelow = 64

/**
 * Characters of a secret: shorter ones are masked in their own call only; of longer ones every part of that length is
 * masked, and of the longest only what comes first.
 */
export const secrets = { shortest: 4, part: 8, longest: 100_000 } as const

/** Recordings of what agents do. */
export const recording = {
  /** Seconds without a call of any tool after which all end, unless the environment says otherwise. */
  idleSeconds: 300,
  /** Milliseconds that a recorded call waits at most for the picture of its moment. */
  longestHoldMs: 4,
  /** Windows of the target whose trees are kept. */
  windows: 8,
  /** Turns that wait for the disk, from which on later ones have no picture and no tree. */
  mostWaiting: 32,
  /** Frames of a film in each second. */
  framesPerSecond: 30,
  /** Milliseconds that a film may take to end. */
  filmEndsMs: 5_000,
} as const

/** Playing a recording again. */
export const replay = {
  /** Milliseconds between two turns when the call does not say, and at most. */
  delayMs: 500,
  longestDelayMs: 60_000,
  /** Milliseconds that a window or an element may take to appear when it is looked for. */
  appearsMs: 5_000,
  /** Milliseconds between two looks. */
  lookEveryMs: 100,
} as const

/** Calls after which a driver collects its garbage. */
export const callsPerCollection = 50

/** Bytes of one line that an edge reads, without its end; longer ones are refused. */
export const longestLineBytes = 16 * 1024 * 1024

/** Calls of one connection that are under way at a time; further ones wait. */
export const callsAtOnce = 64

/** Zoom pictures that are remembered for `from_zoom`, one for each caller and process. */
export const zoomsKept = 256

/** Pictures of shell calls that are kept in the cache folder. */
export const shellPictures = 100

/** A private desktop. */
export const privateDesktop = {
  /** Pixels of the screen when nothing else is asked for. */
  size: { width: 1280, height: 800 },
  /** Pixels of the screen's sides, at least and at most. */
  smallestSide: 64,
  longestSide: 16_384,
  /** Milliseconds until every part must be ready. */
  startTimeoutMs: 20_000,
} as const

/** Longest path in bytes that a Unix socket can have on Linux (unix(7)). */
export const longestSocketPath = 107

/** Where new versions are looked for. */
export const updates = {
  /** The public package registry (npm's registry API), unless the environment names another. */
  registry: 'https://registry.npmjs.org',
  /** Name of the package there. */
  package: 'backlot',
  /** The command that installs the latest version. */
  install: 'npm install -g backlot@latest',
  /** Before a version: the page that tells what it changes. */
  notes: 'https://www.npmjs.com/package/backlot/v/',
  /** Milliseconds that the registry may take. */
  timeoutMs: 3_000,
  /** Bytes of its answer that are read. */
  longestAnswerBytes: 1_000_000,
  /** Milliseconds for which an answer is remembered. */
  rememberMs: 6 * 60 * 60 * 1_000,
} as const

/** The cloud API, as the SDK uses it. */
export const cloud = {
  /** Where its VMs are made when nobody says. */
  region: 'us-east-1',
  /** Times that a request which changes nothing is sent, the first included. */
  attempts: 3,
  /** Milliseconds before it is sent again, doubled each time. */
  retryMs: 200,
  /** Milliseconds between two looks at a VM that starts or stops: the first, and the longest. */
  lookEveryMs: { first: 100, longest: 2_000 },
  /** Bytes of an answer that are read. */
  longestAnswerBytes: 16 * 1024 * 1024,
  /** Milliseconds that a person has to sign in. */
  loginMs: 120_000,
} as const

/** Web pages. */
export const page = {
  /** Milliseconds that a browser may take to say what it is. */
  discoveryMs: 2_000,
  /** Milliseconds that one command to a browser may take. */
  commandMs: 5_000,
  /** Milliseconds that a session of WebDriver BiDi may take to begin, and after which it is no longer expected to. */
  sessionMs: { usual: 15_000, latest: 120_000 },
  /** Milliseconds for a glance at a page that nobody waits for. */
  glanceMs: 1_000,
  /** Milliseconds that a script may run and its promise may take, when the call does not say. */
  scriptMs: 10_000,
  /** Milliseconds added for a browser to report that it ended a script. */
  graceMs: 1_000,
  /** Milliseconds that an element may move before it is clicked where it is. */
  settleMs: 500,
  /** Milliseconds that a connection to a browser is kept after its last use. */
  lingerMs: { cdp: 60_000, webdriver_bidi: 1_000 },
  /** Characters of a page's text that one call gives. */
  longestText: 200_000,
  /** Elements that one query gives, and characters of each text in them. */
  elements: 200,
  longestPart: 500,
} as const

/** MCP over HTTP. */
export const mcpOverHttp = {
  /** Sessions that are kept; beyond them the one that was idle longest ends. */
  mostSessions: 100,
  /** Milliseconds without a request after which a session may be ended. */
  idleMs: 30 * 60_000,
  /** Bytes of a request. */
  longestBodyBytes: 16 * 1024 * 1024,
} as const
