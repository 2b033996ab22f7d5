/** What operating this machine takes, loaded together. */
export { startLocalServer } from './child.ts'
export { openLoopback } from './loopback.ts'
export { unixFetch } from './unix-fetch.ts'
