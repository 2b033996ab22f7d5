/** Prints the milliseconds that a new program takes from the imported package to its first command on this machine. */
import { performance } from 'node:perf_hooks'

const { Localhost } = (await import(process.argv[2] ?? '')) as typeof import('@backlot/sdk')
const begun = performance.now()
const here = await Localhost.connect()
await here.getEnvironment()
process.stdout.write(String(performance.now() - begun))
await here.disconnect()
