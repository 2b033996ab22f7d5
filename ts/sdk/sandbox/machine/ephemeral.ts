/** The ephemeral sandboxes of this program, and how they end with it. */

/** Ends one sandbox. */
type End = () => Promise<void>

const ends = new Map<object, End>()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Ends what is held when this program ends by itself or by SIGINT, SIGTERM or SIGHUP. Where it is killed, dies of an
 * error or calls `process.exit`, there is no time: then the next program that lists, creates or looks for sandboxes ends it.
 */
export const endWithProgram = (key: object, end: End): void => {
  if (globalThis.process?.on === undefined) return
  if (ends.size === 0) {
    process.on('beforeExit', endAll)
    for (const signal of signals) process.on(signal, endBySignal)
  }
  ends.set(key, end)
}

/** Ends it no longer with this program: it has ended already, or is to stay. */
export const forget = (key: object): void => {
  if (!ends.delete(key) || ends.size > 0) return
  process.removeListener('beforeExit', endAll)
  for (const signal of signals) process.removeListener(signal, endBySignal)
}

const endAll = async (): Promise<void> => {
  const all = [...ends]
  const results = await Promise.allSettled(all.map(([, end]) => end()))
  for (const [key] of all) forget(key)
  for (const result of results) {
    if (result.status === 'rejected')
      process.stderr.write(`backlot: an ephemeral sandbox did not end: ${result.reason?.message}\n`)
  }
}

let isEnding = false

const endBySignal = (signal: NodeJS.Signals): void => {
  // The program's own handlers decide whether it ends; without any it ends as if nobody had listened.
  const isOurs = process.listenerCount(signal) === 1
  const pass = () => {
    process.removeListener(signal, endBySignal)
    process.kill(process.pid, signal)
  }
  // Who asks a second time does not want to wait.
  if (isEnding) {
    if (isOurs) pass()
    return
  }
  isEnding = true
  void endAll().then(() => {
    isEnding = false
    if (isOurs) pass()
  })
}
