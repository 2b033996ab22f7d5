/** What of the caller's environment reaches the tests: no language, shell, terminal, key or folder of theirs. */

/** How tools are found and build, how they reach package registries, and what the run itself is told. */
const kept = [
  /^(?:PATH|HOME|CI|KEEP_GOLDEN|BACKLOT_SOAK_SCALE|BACKLOT_KEEP_VIEW|DEBIAN_FRONTEND)$/,
  /^(?:CARGO|RUST|RUSTUP|PIP|UV|NPM_CONFIG|BUN_CONFIG|GO|DOCKER)_/i,
  /_proxy$/i,
  /(?:^|_)(?:SSL|CERT|CERTS|CA|CAINFO)(?:_|$)/,
]

/** The variables that a job is given. */
export const keptOf = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && kept.some((names) => names.test(entry[0])),
    ),
  )
