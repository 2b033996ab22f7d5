/** Prints the milliseconds that importing the package takes. */
import { performance } from 'node:perf_hooks'

const begun = performance.now()
await import(process.argv[2] ?? '')
process.stdout.write(String(performance.now() - begun))
