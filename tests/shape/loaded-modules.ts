/** Preloaded into a program under test: when it ends, writes the paths of the modules that it loaded. */
import { writeFileSync } from 'node:fs'

process.on('exit', () => writeFileSync(process.env.LOADED_MODULES ?? '', Object.keys(require.cache).join('\n')))
