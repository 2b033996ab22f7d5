/** Backlot's version, from the workspace's manifest. */
export { version } from '../../package.json'
