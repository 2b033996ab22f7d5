/** Defaults, limits, environment names and public addresses: each stands here once. */

/** Port of the VM host service. */
export const vmHostPort = 7777
