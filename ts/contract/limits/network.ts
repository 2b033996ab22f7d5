/** Services beyond this machine: the registry of new versions, and the cloud. */

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
  pollIntervalMs: { first: 100, longest: 2_000 },
  /** Bytes of an answer that are read. */
  longestAnswerBytes: 16 * 1024 * 1024,
  /** Milliseconds that a person has to sign in. */
  loginMs: 120_000,
} as const
